# SPDX-License-Identifier: Apache-2.0
# What a section says counts for that section: each directive that learning
# judges stands in sections of one server, and everything beside them is
# learned, with stock httpd's answers and log lines, as is what is inside.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use Time::HiRes qw(time);

# Modules that are not configured outside of these sections; each with
# directives that are allowed in one.
my @cases = (
    [ headers => q{Header set X-A b "expr=%{HTTP_COOKIE} == 'a'"} ],
    [ headers => 'Header unset ETag', 1 ],
    [ headers => 'RequestHeader append Accept-Encoding gzip' ],
    [ headers => 'RequestHeader unset If-None-Match', 1 ],
    [ setenvif => 'SetEnvIf Remote_Addr 127.0.0.2 x' ],
    [ setenvif => 'SetEnvIfExpr "%{HTTP_COOKIE} == \'a\'" x' ],
    [ undef, 'UseCanonicalName On' ],
    [ undef, 'UseCanonicalPhysicalPort On' ],
    [ undef, 'HostnameLookups On' ],
    [ undef, 'AllowOverride All', 1, 'Directory' ],
    [ undef, 'Options -FollowSymLinks', 0, 'Directory' ],
    [ undef, 'ContentDigest On' ],
    [ undef, 'MaxRanges 1', 1 ],
    [ asis => 'SetHandler send-as-is' ],
    [ undef, 'Require ip 127.0.0.1' ],
    [ undef, 'Require method GET' ],
    [ undef, "<If \"%{HTTP_COOKIE} == 'a'\">\nRequire all denied\n</If>" ],
    [ undef, 'DirectoryIndex other.html', 1 ],
    [ undef, 'FixedStatic off' ],
    [ ident => 'IdentityCheck On' ],
    [ logio => 'LogIOTrackTTFB On' ],
    [ filter => "FilterDeclare xN\nFilterProvider xN DEFLATE "
        . '"%{HTTP_COOKIE} == \'a\'"' . "\nFilterChain xN" ],
    [ deflate => 'SetOutputFilter DEFLATE', 1 ],
    [ alias => 'Redirect 302 "http://%{HTTP_HOST}/"', 0, 'Location' ],
    [ access_compat => "Order deny,allow\nDeny from 127.0.0.2" ],
    [ actions => 'Action text/plain /program' ],
    [ allowmethods => 'AllowMethods GET', 2 ],
    [ expires => "ExpiresActive On\nExpiresDefault M1", 2 ],
    [ include => 'XBitHack full', 2 ],
    [ proxy => 'ProxyErrorOverride On', 2 ],
    [ rewrite => "RewriteEngine On\nRewriteCond %{HTTP_COOKIE} a\n"
        . 'RewriteRule . - [F]' ],
    [ usertrack => 'CookieTracking On' ],
    [ speling => 'CheckSpelling On', 2 ],
    [ substitute => "Substitute s/some/other/\nSetOutputFilter SUBSTITUTE" ],
    [ session => 'Session On', 2 ],
    [ cache => 'CacheDisable On', 2, 'Location' ],
    [ charset_lite => "CharsetSourceEnc utf-8\nCharsetDefault latin1", 2 ],
    [ ext_filter => 'ExtFilterOptions LogStderr', 2 ],
    [ ratelimit => "SetOutputFilter RATE_LIMIT\nSetEnv rate-limit 400" ],
    [ asis => 'AddHandler send-as-is txt' ],
    [ negotiation => 'Options +MultiViews', 2, 'Directory' ],
);
my %sections = (
    Directory => "<Directory \"\@ROOT\@/htdocs/c%d\">\nX\n</Directory>",
    Location => qq{<Location "/c%d/">\nX\n</Location>},
    Files => "<Directory \"\@ROOT\@/htdocs/c%d\">\n<FilesMatch \"^(?:f.txt|)\$\">\n"
        . "X\n</FilesMatch>\n</Directory>",
    LocationMatch => qq{<LocationMatch "^/c%d/(?!out)">\nX\n</LocationMatch>},
);
# A module that is not known refuses everything, whatever is configured.
open my $doc, '<', 'docs/security.md' or die "docs/security.md: $!";
my %known = map { $_ => 1 } map /mod_(\w+)/g, grep /^\| may /, <$doc>;
my (@all, %modules, $conf);
for my $case (@cases) {
    my ($module, $text, $learned, $only) = @$case;
    next if $module && $module !~ /^(?:ident|logio)$/ && !$known{$module};
    next if $module && !-e Test::Httpd::libexec() . "/mod_$module.so";
    $modules{$module} = 1 if $module;
    # Each directive in two kinds of sections, in turns.
    my @kinds = sort keys %sections;
    for my $kind ($only || @kinds[ @all % 4, (@all + 1) % 4 ]) {
        $kind = 'Directory' if $kind eq 'Files' && $text =~ /<If/;
        (my $inside = $text) =~ s/xN/'x' . @all/ge;
        (my $section = $sections{$kind}) =~ s/X\n/$inside\n/;
        $section =~ s/%d/@all/ge;
        $section =~ s/%d/scalar @all/ge;
        my $n = @all;
        $section =~ s{/c\d*(?=[/"])}{/c$n}g;
        $conf .= "$section\n";
        push @all, [ "$kind: $text", $learned || 0, $kind ];
    }
}
delete @modules{qw(alias setenvif)};
my $t = Test::Twin->new(modules => [ sort keys %modules ],
    conf => "${conf}LogFormat \"%h %a %l %u %U %s %V %{X-T}i\" l\n"
        . "CustomLog logs/l l\n");
for (0 .. $#all) {
    $t->file("c$_/index.html", "index\n");
    $t->file("c$_/other.html", "other\n");
    $t->file("c$_/f.txt", "some text\n" x 20);
    $t->file("c$_/out.txt", "some text\n");
}
$t->start;
my ($code, $dump) = $t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY');
like $dump, qr/^FixedStatic for [^\n]+: answers may be repeated/m,
    'no section refuses the server';
unlike $dump, qr/^  not in server, S/m, 'nor part of it' or diag $dump;

sub taught {
    return $_[0] =~ s/\r\n\r\n/\r\nX-T: teach\r\n\r\n/r;
}
for my $n (0 .. $#all) {
    my ($name, $learned, $kind) = @{ $all[$n] };
    my $r = $t->request("/c$n/f.txt");
    my $before = $t->hits;
    $learned == 1 ? $t->learned(taught($r)) : $t->learn(taught($r));
    if ($learned < 2) {
        my $got = $t->hits - $before;
        ok $learned ? $got : !$got, "$name: as it should be inside";
    }
    $t->same("$name: A", [ $r, $r ]);
    $t->same("$name: B", [ ($t->request("/c$n/f.txt", 'Cookie: a',
        'Range: bytes=0-3', 'Accept-Encoding: gzip')) x 2,
        $t->request("/c$n/f.txt", 'If-None-Match: *') ], from => '127.0.0.2');
    next if $n % 2;
    my $index = $t->request("/c$n/");
    $t->learn(taught($index));
    $t->same("$name: the index", [ $index, $index ]);
    next unless $kind =~ /Files|Match/;
    my $out = $t->request("/c$n/out.txt");
    ok $t->learned(taught($out)), "$name: beside it";
    $t->same("$name: mixed", [ $out, $r, $out, $index, $out ]);
}
for my $target ('/1k.txt', '/') {
    my $r = $t->request($target);
    ok $t->learned(taught($r)), "$target: outside";
    $t->same("$target: same", [ $r, $r, $t->request($target, 'Range: bytes=1-3'),
        $t->request($target, 'If-None-Match: *') ]);
}
is $t->counter('differed'), 0, 'audits found nothing';
my ($stock, $fixed);
my $lines = sub {
    open my $f, '<', $_[0]->root . '/logs/l' or return '';
    my $port = $_[0]->port;
    return join '', sort map s/\b$port\b/PORT/gr, grep !m{teach$|/cpuaffinity}, <$f>;
};
$t->fixed->wait_for(sub { $lines->($t->fixed) eq $lines->($t->stock) }, 15);
is $lines->($t->fixed), $lines->($t->stock), 'the log';
$t->finish;

# Of several DirectoryIndex the one that counts for the directory is asked:
# those of one section add up, an inner section's replace them.
$t = Test::Twin->new(conf => <<'END');
DirectoryIndex index.html
DirectoryIndex index.php
<Directory "@ROOT@/htdocs/two">
    DirectoryIndex first.html second.html
</Directory>
<Directory "@ROOT@/htdocs/two/deep">
    DirectoryIndex deep.html
    DirectoryIndex second.html
</Directory>
<Directory "@ROOT@/htdocs/off">
    DirectoryIndex disabled
</Directory>
<Directory "@ROOT@/htdocs/again">
    DirectoryIndex a.html
    DirectoryIndex disabled
    DirectoryIndex index.html disabled
</Directory>
<Location "/none/">
    DirectoryIndex none.html
</Location>
END
my %index = ('/' => 1, '/two/' => 0, '/two/deep/' => 1, '/off/' => 0,
    '/again/' => 1, '/none/' => 0);
$t->file($_, "$_\n") for qw(index.php two/second.html two/deep/deep.html
    two/deep/second.html off/index.html again/a.html again/index.html
    none/index.html);
$t->start;
for my $target (sort keys %index) {
    my $r = $t->request($target);
    my $before = $t->hits;
    $index{$target} ? $t->learned($r) : $t->learn($r);
    my $got = $t->hits - $before;
    ok $index{$target} ? $got : !$got, "$target: learned or not"
        or diag $t->fixed->log;
    $t->same("$target: the index", [ $r, $r ]);
}
$t->file('two/first.html', "first\n");
$t->file('none/none.html', "none\n");
$t->same("$_ has a better one", [ $t->request($_) ]) for qw(/two/ /none/);
ok $t->learned($t->request('/two/')), 'which is learned';
$t->finish;
done_testing;
