# SPDX-License-Identifier: Apache-2.0
# RequestHeader on a field that nobody reads changes nothing, and is learned;
# on one that is read, or that a log shows, it refuses. B's answers and log
# lines are stock httpd's either way.
use strict;
use warnings;
use Test::More;
use Test::Twin;

# Each: a name, directives, fields of requests B, and what B differs in.
my @harmless = (
    [ 'httpd', 'RequestHeader unset Proxy early', 'Proxy: x' ],
    [ 'set', 'RequestHeader set X-Forwarded-Proto https', 'X-Forwarded-Proto: a' ],
    [ 'colon', 'RequestHeader set X-Some: thing', 'X-Some: other' ],
    [ 'format', 'RequestHeader append X-Start "%t %{X}e %D"', 'X-Start: b' ],
    [ 'env', "SetEnvIf Request_URI txt text\n"
        . 'RequestHeader add X-Text 1 env=text', 'X-Text: 2' ],
    [ 'edit', 'RequestHeader edit X-Id ^a b', 'X-Id: aa' ],
    [ 'every', 'RequestHeader edit* X-Id a b', 'X-Id: aa' ],
    [ 'merge', "RequestHeader merge X-Id c\nRequestHeader setifempty X-I d",
        'X-Id: c' ],
    [ 'never', "RequestHeader unset Authorization\nRequestHeader unset Upgrade\n"
        . 'RequestHeader edit Expect a b', 'Authorization: Basic YTpi' ],
    # h5bp's, and an old one against many ranges: conditions are httpd's
    [ 'match', q{RequestHeader edit "If-None-Match" '^"((.*)-gzip)"$' }
        . q{'"$1", "$2"'}, 'If-None-Match: "400-60a24181e4000-gzip"' ],
    [ 'range', "RequestHeader unset Range\nRequestHeader unset If-Range early",
        'Range: bytes=1-2' ],
    [ 'since', 'RequestHeader unset If-Modified-Since',
        'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT' ],
    [ 'section', qq{<Location "/in/">\nRequestHeader set Accept-Encoding gzip\n}
        . "SetOutputFilter DEFLATE\n</Location>", 'Accept-Encoding: gzip' ],
);
my @refused = (
    [ 'append', "RequestHeader append Accept-Encoding gzip\n"
        . 'SetOutputFilter DEFLATE', 'Accept-Encoding: br' ],
    [ 'gzip', "SetEnvIf ^X-cept x HAVE\n"
        . 'RequestHeader append Accept-Encoding gzip env=HAVE', 'X-cept: x' ],
    [ 'connection', 'RequestHeader set Connection close', 'Connection: a' ],
    [ 'ranges', 'RequestHeader setifempty Range bytes=1-2', 'Range: bytes=3-4' ],
    [ 'upgrade', 'RequestHeader set Upgrade h2c', 'Upgrade: x' ],
    # read by the configuration: before it, after it, in another place
    [ 'before', "RequestHeader edit X-Before ^a b early\n"
        . "SetEnvIf X-Before b yes\nHeader set X-Yes 1 env=yes", 'X-Before: a' ],
    [ 'after', "SetEnvIf X-After b yes\nHeader set X-Yes 1 env=yes\n"
        . 'RequestHeader edit X-After ^a b early', 'X-After: a' ],
    [ 'other', 'RequestHeader set X-Elsewhere c early', 'X-Elsewhere: a' ],
    [ 'reader', "RequestHeader set X-Reader ''\nSetEnvIf X-Elsewhere a yes\n"
        . 'SetEnvIf X-Reader a yes', 'X-Reader: a' ],
    [ 'varied', "RequestHeader set X-Varied b\nHeader append Vary X-Varied",
        'X-Varied: a' ],
    [ 'shown', "RequestHeader set X-Shown b\nCustomLog logs/shown "
        . '"%U %{X-Shown}i"', 'X-Shown: a' ],
    [ 'cookie', 'RequestHeader unset Cookie', 'Cookie: a=b' ],
    [ 'expr', 'RequestHeader set X-Expr "expr=%{REMOTE_HOST}"', 'X-Expr: a' ],
    [ 'condition', q{RequestHeader set X-Expr 1 "expr=%{HTTP_COOKIE} == 'a'"},
        'Cookie: a' ],
);
my $conf = '';
for (@harmless, @refused) {
    my ($name, $text) = @$_;
    $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name.test\n"
        . "DocumentRoot \@ROOT\@/htdocs\n$text\n"
        . "CustomLog logs/$name-all \"%m %U %s %{User-Agent}i\"\n</VirtualHost>\n";
}
my $t = Test::Twin->new(modules => [qw(headers deflate)], conf => $conf);
$t->file('in/1k.txt', 'some text ' x 100);
$t->start;

for (@harmless) {
    my ($host, $text, $b) = @$_;
    my $r = $t->request('/1k.txt', "Host: $host.test");
    ok $t->learned($r), "$host: learned" or diag $t->fixed->log;
    $t->same("$host: A", [ $r, $r ]);
    my $other = $t->request('/1k.txt', "Host: $host.test", $b);
    $t->same("$host: B", [ $other, $r, $other ]);
    $t->learn($other);
    $t->same("$host: B again", [ $other, $r, $other ]);
    $t->same("$host: and A", [ $r, $other, $r ]);
}
{
    my $r = $t->request('/in/1k.txt', 'Host: section.test');
    my $before = $t->hits;
    $t->learn($r);
    is $t->hits, $before, 'a section is refused alone';
    $t->same('and is as stock', [ $r, $r ]);
}
for (@refused) {
    my ($host, $text, $b) = @$_;
    my $r = $t->request('/1k.txt', "Host: $host.test");
    my $before = $t->hits;
    $t->learn($r);
    my $other = $t->request('/1k.txt', "Host: $host.test", $b);
    $t->same("$host: B", [ $other, $r ]);
    is $t->hits, $before, "$host: refused";
    like $t->fixed->log, qr/is off for \Q$host\E\.test \(S2\): \w+ \(\S+:\d+\)/,
        '... by name';
}
is $t->counter('differed'), 0, 'audits found nothing';
open my $log, '<', $t->fixed->root . '/logs/shown' or die "$!";
is_deeply [ grep !/ b$/, <$log> ], [], 'the log shows what httpd made of it';
$t->finish;
done_testing;
