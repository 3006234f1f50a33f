# SPDX-License-Identifier: Apache-2.0
# .htaccess: what may be learned under what such a file says, against stock
# httpd. A trap is a pair: A may have been learned, B differs.
use strict;
use warnings;
use Test::More;
use Test::Twin;

# Modules that such a file may configure, though nobody else does.
my @modules = grep -e Test::Httpd::libexec() . "/mod_$_.so",
    qw(access_compat actions asis auth_basic authn_file autoindex charset_lite deflate expires filter headers
        include lua macro negotiation ratelimit rewrite session substitute unique_id
        usertrack version);
my %has = map { $_ => 1 } @modules;

# Each: the text, 1 when answers are learned under it, fields of B, and the
# address that it comes from.
my $cookie = 'Cookie: a=1';
my @cases = (
    [ '', 1 ],
    [ "# nothing\n\n   \n", 1 ],
    [ 'AddType text/x-a txt', 1 ],
    [ "AddType text/x-a txt\r\nAddCharset utf-8 .txt\r\n", 1 ],
    [ "AddType \\\n text/x-a \\\n txt", 1 ],
    [ 'AddType text/x-a txt' . ' ' x 3000 . "\n" . '#' x 3000, 1 ],
    [ 'ForceType text/x-b', 1 ],
    [ "AddDefaultCharset utf-8\nAddLanguage de txt\nDefaultLanguage en", 1 ],
    [ "AddEncoding x-a txt\nRemoveEncoding txt", 1 ],
    [ 'FileETag None', 1 ],
    [ 'FileETag MTime', 1 ],
    [ 'Header set X-A "a b"', 1 ],
    [ "Header unset ETag\nHeader append Vary X-Any", 0, 'X-Any: 1' ],
    [ 'Header unset ETag', 1 ],
    [ 'Header always set X-A b', 1 ],
    [ 'RequestHeader unset X-Any', 1, 'X-Any: 1' ],
    [ 'RequestHeader unset If-None-Match', 1, 'If-None-Match: *' ],
    [ 'RequestHeader append Accept-Encoding gzip', 0 ],
    [ "SetEnv x 1\nUnsetEnv y\nPassEnv PATH\nHeader set X-A a env=x", 1 ],
    [ 'SetEnv nokeepalive 1', 0 ],
    [ 'ErrorDocument 404 "none"', 1 ],
    [ 'Require all granted', 1 ],
    [ 'Require all denied', 0 ],
    [ "<Files *.no>\nRequire all denied\n</Files>\n<FilesMatch x\$>\n"
        . "ForceType a/b\n</FilesMatch>", 1 ],
    [ "<RequireAny>\nRequire all granted\n</RequireAny>", 1 ],
    [ "<Limit POST PUT>\nRequire all denied\n</Limit>", 1 ],
    [ "<LimitExcept GET HEAD>\nRequire all denied\n</LimitExcept>", 1 ],
    [ "<IfModule mod_none.c>\nRewriteEngine on\nWhat is this\n</IfModule>\n"
        . "<IfModule !mod_none.c>\nHeader set X-A a\n</IfModule>", 1 ],
    [ "<IfModule headers_module>\nHeader set X-A a\n</IfModule>", 1 ],
    [ "<IfDefine NOT>\nRewriteEngine on\n</IfDefine>", 1 ],
    [ "<IfDefine !NOT>\nSession On\n</IfDefine>", 0, undef, undef, 'session' ],
    [ "<IfVersion < 2.4>\nRewriteEngine on\n</IfVersion>\n"
        . "<IfVersion >= 2.4>\nForceType a/b\n</IfVersion>", 1, undef, undef,
        'version' ],
    [ "Options +FollowSymLinks -Indexes\nDirectorySlash Off", 1 ],
    [ 'Options Indexes', 0 ],
    [ 'Options +SymLinksIfOwnerMatch -FollowSymLinks', 0 ],
    [ 'Options +MultiViews', 0, 'Accept-Language: de' ],
    [ 'Options -MultiViews', 1 ],
    [ "IndexIgnore *\nIndexOptions FancyIndexing\nAddDescription x *.txt", 1 ],
    [ "EnableSendfile off\nEnableMMAP off\nServerSignature off", 1 ],
    [ 'AddOutputFilterByType DEFLATE text/plain', 1, 'Accept-Encoding: gzip' ],
    [ 'SetOutputFilter DEFLATE', 1, 'Accept-Encoding: gzip' ],
    [ "SetOutputFilter DEFLATE\nSetEnv no-gzip 1", 1, 'Accept-Encoding: gzip' ],
    [ "ExpiresActive On\nExpiresDefault A60", 1 ],
    [ 'SetHandler send-as-is', 0 ],
    [ 'AddHandler type-map txt', 0 ],
    [ 'Action text/plain /program', 0 ],
    [ "SetEnvIf Request_URI f.txt v\nHeader set X-V v env=v", 1 ],
    [ "SetEnvIf Host ^other v\nHeader set X-V v env=v", 1, 'Host: other' ],
    [ "SetEnvIf Request_URI f.txt X-Looked\nHeader set X-V v env=X-W", 0,
        'X-Looked: 0' ],
    # traps
    [ "SetEnvIf Cookie a v\nHeader set X-V v env=v", 0, $cookie ],
    [ "SetEnvIf ^Cook a v\nHeader set X-V v env=v", 0, $cookie ],
    [ "SetEnvIf Remote_Addr 2\$ v\nHeader set X-V v env=v", 0, undef,
        '127.0.0.2' ],
    [ "SetEnvIfExpr \"%{HTTP_COOKIE} == 'a=1'\" v\nHeader set X-V v env=v", 0,
        $cookie ],
    [ "BrowserMatch evil v\nHeader set X-V v env=v", 0, 'User-Agent: evil' ],
    [ q{Header set X-V v "expr=%{HTTP_COOKIE} == 'a=1'"}, 0, $cookie ],
    [ 'Header set X-V "expr=%{HTTP_COOKIE}"', 0, $cookie ],
    [ 'Header set X-V "expr=%{HTTP_COOKIE}"', 0, $cookie ],
    [ 'Header echo ^Cookie', 0, $cookie ],
    [ "<If \"%{HTTP_COOKIE} == 'a=1'\">\nForceType a/b\n</If>", 0, $cookie ],
    [ "<If \"false\">\n</If>\n<ElseIf \"%{HTTP_COOKIE} == 'a=1'\">\n"
        . "ForceType a/b\n</ElseIf>", 0, $cookie ],
    [ "Require expr \"%{HTTP_COOKIE} == ''\"", 0, $cookie ],
    [ 'Require ip 127.0.0.1', 0, undef, '127.0.0.2' ],
    [ "<RequireAll>\nRequire all granted\nRequire not ip 127.0.0.2\n"
        . '</RequireAll>', 0, undef, '127.0.0.2' ],
    [ "<Files f.txt>\nRequire ip 127.0.0.1\n</Files>", 0, undef, '127.0.0.2' ],
    [ "Order allow,deny\nAllow from all\nDeny from 127.0.0.2", 0, undef,
        '127.0.0.2', 'access_compat' ],
    [ "AuthType Basic\nAuthName x\nAuthUserFile \@ROOT\@/none\n"
        . 'Require valid-user', 0 ],
    [ 'LuaHookFixups hook.lua go', 0, $cookie, undef, 'lua' ],
    [ 'Session On', 0, undef, undef, 'session' ],
    [ 'CookieTracking On', 0, undef, undef, 'usertrack' ],
    [ "CharsetSourceEnc utf-8\nCharsetDefault latin1", 0, undef, undef,
        'charset_lite' ],
    [ "Substitute s/some/other/\nSetOutputFilter SUBSTITUTE", 0, undef, undef,
        'substitute' ],
    [ "SetOutputFilter INCLUDES", 0, $cookie ],
    [ "XBitHack full", 0, undef, undef, 'include' ],
    [ "SetOutputFilter RATE_LIMIT", 0 ],
    [ "FilterDeclare f\nFilterProvider f DEFLATE \"%{HTTP_COOKIE} == 'a=1'\"\n"
        . 'FilterChain f', 0, "$cookie\r\nAccept-Encoding: gzip" ],
    [ "RewriteEngine on\nRewriteCond %{HTTP_COOKIE} a\nRewriteRule . - [F]", 0,
        $cookie, undef, 'rewrite' ],
    [ "<Macro m \$x>\nForceType a/\$x\n</Macro>\nUse m b", 0, undef, undef,
        'macro' ],
    [ "Header set X-V v \"env=UNIQUE_ID\"", 0 ],
    [ 'Header set X-V "${PATH}"', 0 ],
    [ "ForceType a/b\0c", 0 ],
    [ "Head\\\ner set X-V \"expr=%{HTTP_COOKIE}\"", 0, $cookie ],
    [ '"Header" set X-V "expr=%{HTTP_COOKIE}"', 0, $cookie ],
    [ 'hEADER set X-V "expr=%{HTTP_COOKIE}"', 0, $cookie ],
    [ "\xef\xbb\xbfForceType a/b", 0 ],
    [ 'ForceType a/' . 'b' x 9000, 0 ],
    [ '# ' . join("\n# ", ('x' x 100) x 700), 0 ],
    [ 'php_value x 1', 0 ],
    [ "<IfModule mod_headers.c>\nHeader set X-A a", 1 ],
    [ "<Files f.txt>\nForceType a/b", 0 ],
    [ 'AllowOverride None', 0 ],
    [ 'FixedStatic on', 0 ],
    [ 'Redirect 302 "/%{HTTP_COOKIE}"', 0, $cookie ],
    [ 'ContentDigest On', 0 ],
);
@cases = grep !$_->[4] || $has{ $_->[4] }, @cases;

my $t = Test::Twin->new(
    modules => [ grep !/^(?:version|unique_id)$/, @modules ], conf => <<'END');
FixedStaticCache 10000 0
LogFormat "%h %a %U%q %s %b %{v}e %{X-T}i" l
CustomLog logs/l l
<Directory "@ROOT@/htdocs">
    AllowOverride All
    Options FollowSymLinks
</Directory>
<Directory "@ROOT@/htdocs/override/none">
    AllowOverride None
</Directory>
<Directory "@ROOT@/htdocs/override/info">
    AllowOverride FileInfo
</Directory>
<Directory "@ROOT@/htdocs/override/options">
    AllowOverride Options=Indexes
</Directory>
<Directory "@ROOT@/htdocs/override/list">
    AllowOverride None
    AllowOverrideList ForceType
</Directory>
<Directory "@ROOT@/htdocs/override/nonfatal">
    AllowOverride Nonfatal=Override FileInfo
</Directory>
<Directory "@ROOT@/htdocs/nothing">
    SetEnvIf X-Looked 1 X-W
</Directory>
END
for (0 .. $#cases) {
    $t->file("c$_/f.txt", "some text\n" x 200);
    $t->file("c$_/.htaccess", $cases[$_][0]);
}
# What is allowed: kind, text, learned.
my @overrides = (
    [ none => "What is this\n", 1 ],
    [ info => 'ForceType a/b', 1 ],
    [ info => 'Options +Indexes', 0 ],
    [ info => 'Require all denied', 0 ],
    [ options => 'Options +Indexes', 1 ],
    [ options => 'Options +ExecCGI', 0 ],
    [ list => 'ForceType a/b', 1 ],
    [ list => 'AddType a/b txt', 0 ],
    [ nonfatal => "Options +Indexes\nForceType a/b", 1 ],
    [ nonfatal => "Require all denied\nForceType a/b", 1 ],
);
for (0 .. $#overrides) {
    my $dir = "override/$overrides[$_][0]/o$_";
    $t->file("$dir/f.txt", "text\n");
    $t->file("$dir/.htaccess", $overrides[$_][1]);
}
# Which index: each level's DirectoryIndex, the file, learned.
my @indexes = (
    [ [ 'DirectoryIndex index.html' ], 'index.html', 1 ],
    [ [ 'DirectoryIndex other.html index.html' ], 'index.html', 0 ],
    [ [ 'DirectoryIndex index.html', 'DirectoryIndex other.html' ],
        'other.html', 0 ],
    [ [ '', 'DirectoryIndex disabled' ], 'index.html', 0 ],
    [ [ "DirectoryIndex index.html\nDirectoryIndex other.html" ],
        'index.html', 0 ],
    [ [ "<Files x>\nDirectoryIndex other.html\n</Files>" ], 'index.html', 0 ],
);
for my $n (0 .. $#indexes) {
    my $dir = "i$n";
    for (@{ $indexes[$n][0] }) {
        $t->file("$dir/.htaccess", $_);
        $dir .= '/in' if $_ ne $indexes[$n][0][-1];
    }
    $indexes[$n][3] = "/$dir/";
    $t->file("$dir/$indexes[$n][1]", "an index\n");
}
$t->change(sub {
    open my $f, '>', dirname_of($_[0]) . '/hook.lua' or die $!;
    print {$f} "function go(r)\n  if r.headers_in['Cookie'] then "
        . "r.headers_out['X-V'] = 'v' end\n  return apache2.OK\nend\n";
});
$_->{allow_log} = qr/\.htaccess: |AuthUserFile|AH01477/ for $t->both;
$t->start;
$t->settle;

sub dirname_of { return $_[0] =~ s{/htdocs\z}{}r }

sub taught {
    return $_[0] =~ s/\r\n\r\n/\r\nX-T: teach\r\n\r\n/r;
}

# Name, target, learned, B's fields and address.
my @pairs;
for my $n (0 .. $#cases) {
    my ($text, $learned, $fields, $from) = @{ $cases[$n] };
    (my $name = substr $text, 0, 60) =~ s/[^ -~]+/ /g;
    push @pairs, [ "$n: $name", "/c$n/f.txt", $learned, $fields, $from ];
}
for my $n (0 .. $#overrides) {
    my ($kind, $text, $learned) = @{ $overrides[$n] };
    push @pairs, [ "$kind: $text", "/override/$kind/o$n/f.txt", $learned ];
}
push @pairs, [ "index $_", $indexes[$_][3], $indexes[$_][2] ] for 0 .. $#indexes;
for my $pair (@pairs) {
    my ($name, $target, $learned, $fields) = @$pair;
    my $r = $t->request($target);
    $pair->[5] = $fields ? $t->request($target, split /\r\n/, $fields) : $r;
}
for (1 .. 4) {
    for my $pair (@pairs) {
        my $r = $t->request($pair->[1]);
        $t->ask($t->fixed, [ map taught($_), $r, $r,
            ($pair->[2] ? $pair->[5] : $r) x 2 ]);
    }
}
for my $pair (@pairs) {
    my ($name, $target, $learned, $fields, $from, $with) = @$pair;
    my $r = $t->request($target);
    my $before = $t->hits;
    $t->ask($t->fixed, [ map taught($_), $r, $r, $with ]);
    my $got = $t->hits > $before || ($learned && $t->learned(taught($r)));
    ok $learned ? $got : !$got, "$name: learned or not"
        or diag $t->fixed->log =~ /\Q$target\E is not learned.*/g;
    $t->same("$name: A", [ $r, $r ]);
    $t->same("$name: B", [ ($with) x 2, $r, $t->request($target, 'Range: '
        . 'bytes=0-3'), $t->request($target, 'If-None-Match: *'),
        $r =~ s/^GET/HEAD/r, $with ], from => $from || '127.0.0.1');
}
is $t->counter('differed'), 0, 'audits found nothing';
my ($met) = grep $_->{what} =~ /^AllowOverride lets/ && $_->{requests},
    map @{ $_->{obstacles} },
    @{ $t->fixed->json('/cpuaffinity?json')->{learning}{servers} };
ok $met, 'what is refused is counted for the directive that allows it';
like $t->fixed->log, qr{may\ be\ read:\ ContentDigest\ is\ not\ known
    \ to\ be\ harmless\ \(\S+/\.htaccess:1\)}x, 'the log names directives';

my $lines = sub {
    open my $f, '<', $_[0]->root . '/logs/l' or return '';
    my $port = $_[0]->port;
    return join '', sort map s/\b$port\b/PORT/gr,
        grep !m{teach$|/cpuaffinity}, <$f>;
};
$t->fixed->wait_for(sub { $lines->($t->fixed) eq $lines->($t->stock) }, 15);
is $lines->($t->fixed), $lines->($t->stock), 'the log';
$t->finish;
done_testing;
