# SPDX-License-Identifier: Apache-2.0
# docs/security.md, R0 to R8: for each rule a pair of requests. A is learned if
# the rule is broken, B must then differ. Both are compared with stock httpd.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use POSIX ();
use Time::HiRes qw(sleep);

# Each: name, the rule that the log has to name (or "loop": the loop answers,
# "mine": the recogniser sees it, no rule), configuration (DIR is the
# case's directory, LOC its location), A, B (fields), and options:
#   from       address that B comes from (A: 127.0.0.1)
#   b_target   target of B; target: of both, behind LOC
#   files      name => text, under LOC (default f.html)
#   before     sub(directory): just before A
#   change     sub(directory): between A and B
#   root       needs to be root
my @cases = (
    [ 'all granted', 'loop', 'Require all granted', '', from => '127.0.0.2' ],
    [ 'Require ip', 'R4', "Require ip 127.0.0.1", '', from => '127.0.0.2' ],
    [ 'Require not ip', 'R4', "<RequireAll>\nRequire all granted\n"
        . "Require not ip 127.0.0.2\n</RequireAll>", '', from => '127.0.0.2' ],
    [ 'Require host', 'R4', "Require host localhost\nRequire ip 127.0.0.1", '',
        from => '127.0.0.2' ],
    [ 'Require local', 'R4', "Require local" ],
    [ 'Require expr', 'R4', q{Require expr "%{REMOTE_ADDR} == '127.0.0.1'"},
        '', from => '127.0.0.2' ],
    [ 'Require expr on a header', 'R4', q{Require expr "%{HTTP_COOKIE} != 'x'"},
        'Cookie: x' ],
    [ 'Require env', 'R4',
        "SetEnvIf Origin evil bad\n<RequireAll>\nRequire all granted\n"
        . "Require not env bad\n</RequireAll>", 'Origin: evil' ],
    [ 'Require method', 'R4', 'Require method GET' ],
    [ 'RequireAny', 'R4', "<RequireAny>\nRequire ip 10.0.0.1\n"
        . "Require ip 127.0.0.1\n</RequireAny>", '', from => '127.0.0.2' ],
    [ 'RequireNone', 'R4', "<RequireAll>\nRequire all granted\n<RequireNone>\n"
        . "Require ip 127.0.0.2\n</RequireNone>\n</RequireAll>", '',
        from => '127.0.0.2' ],
    [ 'AuthMerging', 'R4', "AuthMerging And\n<RequireAll>\nRequire all granted\n"
        . "Require not ip 127.0.0.2\n</RequireAll>", '',
        from => '127.0.0.2' ],
    [ 'provider alias', 'R4', "Require near", '', from => '127.0.0.2' ],
    [ 'in a macro', 'R4', "Use Near", '', from => '127.0.0.2' ],
    [ 'in Limit', 'R4', "<Limit GET>\nRequire ip 127.0.0.1\n</Limit>", '',
        from => '127.0.0.2' ],
    [ 'in Files', 'R4', "<Files f.html>\nRequire ip 127.0.0.1\n</Files>", '',
        from => '127.0.0.2' ],
    [ 'in Location', 'R4', '', '', from => '127.0.0.2',
        outside => "<Location LOC>\nRequire ip 127.0.0.1\n</Location>" ],
    [ 'Basic auth', 'R4', "AuthType Basic\nAuthName x\n"
        . "AuthUserFile ROOT/passwd\nRequire valid-user" ],
    [ 'Satisfy any', 'S2', "Order deny,allow\nDeny from 127.0.0.2", '',
        from => '127.0.0.2' ],
    [ 'rewriting by address', 'S2', "RewriteEngine on\n"
        . "RewriteCond %{REMOTE_ADDR} =127.0.0.2\nRewriteRule . - [F]", '',
        from => '127.0.0.2' ],
    [ 'If', 'R2', qq{<If "%{HTTP_COOKIE} == 'x'">\nRequire all denied\n</If>},
        'Cookie: x' ],
    [ 'SetHandler with an expression', 'R2',
        'SetHandler "%{req:X-Requested-With}"',
        'X-Requested-With: send-as-is' ],
    [ 'SetHandler', 'R2', 'SetHandler send-as-is' ],
    [ 'rate limit', 'R3', "SetOutputFilter RATE_LIMIT\nSetEnv rate-limit 90000" ],
    [ 'rate limit under a content filter', 'R3',
        "SetOutputFilter RATE_LIMIT;DEFLATE\nSetEnv rate-limit 90000" ],
    [ 'substitution', 'R3', qq{SetOutputFilter SUBSTITUTE\nSubstitute "s/h/H/"} ],
    [ 'includes', 'R3', "Options +Includes\nSetOutputFilter INCLUDES" ],
    [ 'deflate', 'loop', 'SetOutputFilter DEFLATE', 'Accept-Encoding: gzip' ],
    [ 'deflate by type', 'loop', 'AddOutputFilterByType DEFLATE text/html',
        'Accept-Encoding: gzip' ],
    [ 'SetEnvIf', 'loop', "SetEnvIf Origin evil nokeepalive", 'Origin: evil' ],
    [ 'BrowserMatch', 'loop', '', 'User-Agent: Ancient/1' ],
    [ 'SetEnv', 'loop', "SetEnv FOO bar" ],
    [ 'SetEnv with an effect', 'R5', "SetEnv nokeepalive 1" ],
    [ 'constant Header', 'loop',
        qq{Header set X-A "b c"\nHeader always set X-B d\nHeader append Vary DNT},
        'DNT: 1' ],
    [ 'Vary on a header of a client', 'loop', 'Header append Vary Origin',
        'Origin: http://b' ],
    [ 'Vary: *', 'R7', 'Header set Vary *' ],
    [ 'Header unset ETag', 'loop', 'Header unset ETag',
        'If-None-Match: "x"' ],
    [ 'FileETag None', 'loop', 'FileETag None',
        "If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT" ],
    [ 'MaxRanges', 'loop', 'MaxRanges none', 'Range: bytes=0-1' ],
    [ 'usertrack', 'S2', 'CookieTracking on', 'Cookie: a=b' ],
    [ 'digests', 'R7', 'ContentDigest on' ],
    [ '.htaccess above', 'R1', 'AllowOverride All', '',
        outside => "<Directory DIR/leaf>\nAllowOverride None\n</Directory>",
        files => { 'leaf/f.html' => 'leaf' }, target => 'leaf/f.html',
        change => sub { put("$_[0]/.htaccess", "Require all denied\n") } ],
    [ '.htaccess by AllowOverrideList', 'R1',
        "AllowOverride None\nAllowOverrideList Require", '',
        change => sub { put("$_[0]/.htaccess", "Require all denied\n") } ],
    [ 'DirectoryIndex, second name', 'R1', '', '',
        files => { 'b.html' => 'second' }, target => '',
        change => sub { put("$_[0]/index.html", "first\n") } ],
    [ 'FallbackResource', 'R1', 'FallbackResource LOC/f.html', '',
        target => 'none.html',
        change => sub { put("$_[0]/none.html", "it has come\n") } ],
    [ 'MultiViews', 'R1', 'Options +MultiViews', 'Accept: text/plain',
        files => { 'doc.html' => 'html', 'doc.txt' => 'text' },
        target => 'doc' ],
    [ 'path info', 'R6', 'AcceptPathInfo on', '', target => 'f.html/more' ],
    [ 'a link whose owner is checked', 'R6',
        'Options -FollowSymLinks +SymLinksIfOwnerMatch', '', root => 1,
        files => { 'real.html' => 'real' }, target => 'link.html',
        prepare => sub { symlink 'real.html', "$_[0]/link.html" },
        change => sub { system 'chown', '-h', 'nobody', "$_[0]/link.html" } ],
    [ 'no links at all', 'R6', 'Options -FollowSymLinks', '',
        change => sub {
            rename "$_[0]/f.html", "$_[0]/g.html";
            symlink 'g.html', "$_[0]/f.html";
        } ],
    [ 'alias in a section', 'S2', 'ForceType text/plain', '',
        outside => "<Location LOC>\nAlias ROOT/htdocs/1k.txt\n</Location>" ],
    [ 'a young file', 'R6', '', '', young => 1,
        before => sub { utime undef, undef, "$_[0]/f.html" },
        change => sub { put("$_[0]/f.html", "edit\n") } ],
    # Repeating: what the loop knows already is looked at again.
    [ 'a young file with an old time', 'R6', '', '', young => 1,
        before => sub { put("$_[0]/f.html", "old\n") },
        change => sub { put("$_[0]/f.html", "edit\n") } ],
    [ 'a file edited in place, its size and time set back', 'loop', '', '',
        change => sub {
            my @was = stat "$_[0]/f.html";
            open my $fh, '+<', "$_[0]/f.html" or die $!;
            print {$fh} '<P>';
            close $fh;
            utime @was[8, 9], "$_[0]/f.html";
        } ],
    [ 'an edited file', 'loop', '', '',
        change => sub { put("$_[0]/f.html", "edited\n") } ],
    [ 'a revoked parent', 'loop', '', '', root => 1,
        change => sub { chmod 0700, $_[0] } ],
    [ 'a vanished file', 'loop', '', '',
        change => sub { unlink "$_[0]/f.html" } ],
    [ 'a directory in its place', 'loop', '', '',
        change => sub { unlink "$_[0]/f.html"; mkdir "$_[0]/f.html" } ],
    [ 'a parent replaced by a link', 'loop', '', '',
        change => sub {
            rename $_[0], "$_[0].old";
            mkdir "$_[0].new";
            put("$_[0].new/f.html", "elsewhere\n");
            symlink "$_[0].new", $_[0];
        } ],
);

sub put {
    my ($path, $text) = @_;
    open my $fh, '>', $path or die "$path: $!";
    print {$fh} $text;
    close $fh;
    utime 1_700_000_001, 1_700_000_001, $path;
}

my $conf = <<'END';
DirectoryIndex index.html b.html
BrowserMatch "^Ancient/" nokeepalive
<AuthzProviderAlias ip near "127.0.0.1">
</AuthzProviderAlias>
<Macro Near>
    Require ip 127.0.0.1
</Macro>
END
my $n = 0;
for my $case (@cases) {
    my ($name, $rule, $text, $b, %o) = @$case;
    $case = { name => $name, rule => $rule, b => $b, loc => "/c$n", %o };
    my $outside = $o{outside} // '';
    $conf .= "<Directory ROOTDOC/c$n>\n$text\n</Directory>\n$outside\n";
    s{LOC}{/c$n}g, s{\bDIR/}{ROOTDOC/c$n/}g, s{ROOTDOC}{\@ROOT\@/htdocs}g,
        s{\bROOT/}{\@ROOT\@/}g for $conf;
    $n++;
}
my $t = Test::Twin->new(conf => "FixedStaticHtaccess off\n$conf",
    modules => [qw(authz_user auth_basic
    authn_file access_compat rewrite negotiation autoindex deflate filter
    headers expires usertrack macro asis include ratelimit substitute)]);
for my $case (@cases) {
    my $files = $case->{files} || { 'f.html' => "<p>$case->{name}\n" };
    for my $f (keys %$files) {
        $t->file(substr("$case->{loc}/$f", 1), $files->{$f});
    }
    $t->change(sub { $case->{prepare}->("$_[0]$case->{loc}") })
        if $case->{prepare};
    $case->{target} = "$case->{loc}/" . ($case->{target} // 'f.html');
}
$t->start;

sub skipped {
    my ($case, $count) = @_;
    return 0 unless $case->{root} && $>;
    SKIP: { skip "$case->{name}: only root can prepare it", $count }
    return 1;
}

# A, on both; what the loop has answered of it; what the log says.
for my $case (@cases) {
    next if skipped($case, 2);
    my $a = $t->request($case->{target});
    $t->change(sub { $case->{before}->("$_[0]$case->{loc}") })
        if $case->{before};
    my ($log, $hits) = (length $t->fixed->log, $t->hits);
    $case->{rule} eq 'loop' ? $t->learned($a)
        : $t->learn($a, young => $case->{young});
    $t->same("$case->{name}: A", [ $a, $a ]);
    my $got = $t->hits - $hits;
    my $said = substr $t->fixed->log, $log;
    if ($case->{rule} eq 'loop') {
        cmp_ok $got, '>', 0, "$case->{name}: the loop answers A"
            or diag $said;
    }
    else {
        ok !$got && $said =~ /is not learned \($case->{rule}\)/,
            "$case->{name}: refused by $case->{rule}" or diag $got, $said;
    }
}

for my $case (@cases) {
    $t->change(sub { $case->{change}->("$_[0]$case->{loc}") })
        if $case->{change} && !($case->{root} && $>);
}
sleep 1.3; # VALID

for my $case (@cases) {
    next if skipped($case, 1);
    my $b = $t->request($case->{target}, grep $_, $case->{b});
    $t->same("$case->{name}: B", [ $b, $b ], from => $case->{from});
}

# R6: names that come and go: whole files only, never a head with another's
# body.
{
    my $end = time + 2;
    my @text = ("a" x 1000, "b" x 3000);
    my ($odd, $count) = (0, 0);
    my $root = $t->fixed->root . '/htdocs';
    put("$root/churn.$_", $text[$_]) for 0, 1;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my $i = 0;
        while (time < $end + 1) {
            link "$root/churn." . ($i ^= 1), "$root/churn.new";
            rename "$root/churn.new", "$root/churn.txt";
            select undef, undef, undef, 0.002;
        }
        POSIX::_exit(0);
    }
    sleep 0.1;
    while (time < $end) {
        my ($answer) = $t->ask($t->fixed, $t->request('/churn.txt'));
        my ($length, $body) =
            $answer =~ /^Content-Length: (\d+).*?\r\n\r\n(.*)\z/ms;
        $count++;
        $odd++ unless defined $length && length $body == $length
            && $body eq ($length == 1000 ? $text[0] : $text[1]);
    }
    kill 'KILL', $pid;
    waitpid $pid, 0;
    cmp_ok $count, '>', 20, 'many answers while a name changes hands';
    # httpd itself opens the file after it has looked at it
    note "$odd of $count mixed, as httpd mixes them" if $odd;
    my $r = $t->request('/churn.txt');
    sleep 1.2;
    $t->learn($r);
    my ($answer) = $t->ask($t->fixed, $r);
    like $answer, qr/Content-Length: (?:1000.*\r\n\r\na{1000}|3000.*\r\n\r\nb{3000})\z/s,
        'and none of them is kept';
}
$t->finish;
done_testing;
