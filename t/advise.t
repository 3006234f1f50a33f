# SPDX-License-Identifier: Apache-2.0
# cpuaffinity advise: its list is that of docs/advise.md, made again here; its
# sources, exit codes, earlier statuses and restarts; what it refuses.
use strict;
use warnings;
use JSON::PP ();
use IO::Socket::INET;
use POSIX ();
use Test::More;
use Test::Client;
use Test::Httpd;

my $tool = Test::Httpd::build_dir() . '/cpuaffinity';
my $doc = do { open my $fh, '<', 'docs/advise.md' or die $!; local $/; <$fh> };
my ($site) = $doc =~ /<!-- site -->\n```apache\n(.*?)```/s;
my ($run) = $doc =~ /<!-- run -->\n```console\n\$ [^\n]+\n(.*?)```/s;

my $h = Test::Httpd->new(modules => [qw(headers status)],
    listen => Test::Httpd::listener(),
    mpm_conf => "ThreadsPerChild 8\n", conf => 'Include @ROOT@/site.conf');
my $root = $h->root;
$site .= "<Location /server-status>\nSetHandler server-status\n</Location>\n";
(my $conf = $site) =~ s{/srv/www}{$root/htdocs}g;
$h->write_file('site.conf', $conf);
mkdir "$root/htdocs/$_" for qw(live team);
$h->write_file("htdocs/$_/a.txt", 'text') for qw(live team);
utime 1_700_000_000, 1_700_000_000, glob("$root/htdocs/*.* $root/htdocs/*/*");
$h->start;
$h->settle; # FixedStatic is on in the file that is included
my $url = 'http://127.0.0.1:' . $h->port . '/cpuaffinity';

# @return (exit code, standard output, standard error)
sub advise {
    my ($input, @args) = @_;
    my ($o, $e) = ("$root/run/out", "$root/run/err");
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDIN, '<', $input // '/dev/null';
        open STDOUT, '>', $o;
        open STDERR, '>', $e;
        exec 'timeout', 30, $tool, 'advise', @args or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    my $code = $? >> 8;
    return ($code, map { open my $fh, '<', $_ or die "$_: $!"; local $/;
        scalar(<$fh>) // '' } $o, $e);
}

# So many requests, each on a connection of its own; all of them answered.
my $asked = 0;
sub ask {
    my ($n, $target, $method) = @_;
    my $good = 0;
    for (1 .. $n) {
        my $c = Test::Client->new($h->port);
        $c->send(($method // 'GET') . " $target HTTP/1.1\r\nHost: localhost\r\n"
            . "Connection: close\r\n\r\n");
        $good++ if $c->answer;
    }
    $asked += $n;
    is $good, $n, "$n for $target: answered";
}

my ($code, $out, $err) = advise(undef, $url);
is $code, 3, 'too few requests';
like $out, qr/too few to tell/, 'which it says';

ask(500, '/1k.txt');
ask(200, '/live/a.txt');
ask(150, '/team/a.txt');
ask(80, '/1k.txt', 'OPTIONS');
ask(50, '/none');
ask(20, '//1k.txt');
my $file = $h->write_file('earlier.json', $h->get('/cpuaffinity?json')->{body});

# Percentages are rounded for comparing: learning takes two answers for each
# seat or a few more, and the status itself is asked for as well.
sub shape {
    my ($text) = @_;
    $text =~ s{\Q$root\E/htdocs}{/srv/www}g;
    $text =~ s{\Q$root\E/site}{/etc/httpd/site}g;
    my ($head) = $text =~ /^(.*)\n/;
    my @rows;
    while ($text =~ /^([\d.]+) % of requests: (.*\n(?:    .*\n)?)/mg) {
        push @rows, [ $1, $2 ];
    }
    return ($head, @rows);
}

($code, $out, $err) = advise(undef, $url);
is "$code$err", 0, 'the server itself';
my ($doc_head, @want) = shape($run);
my ($head, @got) = shape($out);
# The requests of this test for the status; and keys that learn late.
@got = grep $_->[1] !~ /^(?:not the default handler's|a file that was asked)/,
    @got;
is join('', map $_->[1], @got), join('', map $_->[1], @want),
    'rows, order and words are those of the documentation' or diag $out;
for my $i (0 .. $#want) {
    cmp_ok abs($got[$i][0] - $want[$i][0]), '<', 2, "$got[$i][0] % there";
}
like $head, qr/^\d+ requests since [\d-]{10} [\d:]{8}: /, 'since when';
like $head, qr/: the loop answered 4[5-9]\.\d %, httpd's threads 5[0-5]\.\d %\.$/,
    'the first line';

# Every request is in it once: the loop's and httpd's.
my $learning = $h->json('/cpuaffinity?json')->{learning};
my $sum = 0;
for my $s (@{ $learning->{servers} }) {
    $sum += $_->{requests} for @{ $s->{obstacles} }, @{ $s->{causes} };
}
is $sum, $learning->{requests}{httpd}, 'causes and obstacles add up';
is $learning->{requests}{loop} + $sum, $asked + 3, 'to the requests';
is $learning->{requests}{elsewhere}, 0, 'none elsewhere';

# The same from the other sources.
my ($c2, $from_file) = advise(undef, $file);
my ($c3, $from_stdin) = advise($file, '-');
is "$c2 $c3", '0 0', 'a file and standard input';
is $from_file, $from_stdin, 'give the same';
like $from_file, qr/\d+ requests since .*\n\n(?:1|2)\d\.\d % of requests: Head/,
    'the list';
my ($c4, $json) = advise(undef, '--json', $file);
my $a = JSON::PP::decode_json($json);
is $c4, 0, '--json';
is_deeply [ @{ $a->{costs}[0] }{qw(rule where kind)} ],
    [ 'S2', "$root/site.conf:10", 'obstacle' ], 'for programs';
cmp_ok $a->{costs}[0]{requests}, '==', 200, 'exact';
ok !$a->{few} && !$a->{restarted}, 'and as booleans';

# On the pages, escaped.
my $page = $h->get('/cpuaffinity')->{body};
my ($list) = $page =~ /(most expensive first.*?<\/table>)/s;
like $list, qr{^<tr><td>[\d.]+&nbsp;%<td>S2<td[^>]*>Header is not a constant, }m,
    'on the page';
like $list, qr{ \Q$root\E/site\.conf:10\. <i>set a constant}, 'with its place';

like $h->get('/server-status')->{body}, qr{first.*S2<td[^>]*>Header is not}s,
    "and on mod_status's";

# Since an earlier one.
ask(300, '/team/a.txt');
($code, $out, $err) = advise(undef, '--since', $file, $url);
is $code, 0, '--since';
like $out, qr/\A30\d requests since the earlier status: /, 'counts from there';
like $out, qr/\n\n9\d\.\d % of requests: Require asks/, 'what came since';
unlike $out, qr/Header is not/, 'and nothing else';
ok $h->graceful, 'a restart';
ok $h->wait_for(sub { eval {
    $h->json('/cpuaffinity?json')->{learning}{generation} } }, 20),
    'another generation';
ask(250, '/live/a.txt');
($code, $out) = advise(undef, '--since', $file, $url);
is $code, 0, '--since, over a restart';
like $out, qr/\Ahttpd was restarted after the earlier status: only/, 'it is said';
like $out, qr/^\d\d\.\d % of requests: Header is not/m, 'what came after it';
unlike $out, qr/Require asks/, 'and nothing else';

# What cannot be read.
($code, $out, $err) = advise(undef, $url . 'x');
is $code, 1, 'no such page';
like $err, qr/the server answered 404$/, 'which it says';
($code, undef, $err) = advise(undef, 'https://127.0.0.1/');
is $code, 1, 'TLS';
like $err, qr/curl -s URL \| cpuaffinity advise -/, 'has its way';
for (map "http://$_", '', '/', 'a b/', "h\n/", 'u@h/', '127.0.0.1') {
    ($code, undef, $err) = advise(undef, $_);
    is $code, 1, 'no address';
}
for ([ '{', 'JSON' ], [ '{}', 'not the status' ], [ '', 'JSON' ],
    [ '{"seats":[]}', 'FixedStatic is not on' ],
    [ '{"seats":[],"learning":{}}', 'does not count' ],
    [ "[\x1b[2J", 'JSON' ]) {
    my $bad = $h->write_file('bad.json', $_->[0]);
    ($code, $out, $err) = advise(undef, $bad);
    is $code, 1, "$_->[1]: refused";
    like $err, qr/^cpuaffinity: \Q$bad\E: .*\Q$_->[1]\E/, 'and said why';
    unlike $err, qr/[^\n -~]/, 'in plain characters';
}
($code, $out) = advise(undef, $h->write_file('evil.json',
    '{"seats":[],"learning":{"requests":{"loop":999},"servers":[{"server":'
    . '"\u001b[31m","causes":[{"text":"\u001b]0;x\u0007\u202e","requests":9}'
    . ']}]}}'));
is $code, 0, 'a status that lies';
like $out, qr/requests: \\x1b\]0;x\\x07\\u202e\n/, 'is shown as it is';
unlike $out, qr/[^\n -~]/, 'escaped';
is +(advise(undef, @$_))[0], 2, "usage: @$_" for [], [qw(a b)], ['--x', 'a'],
    ['--since'];
is +(advise(undef, '--help'))[0], 0, '--help';

# Servers that are none.
for ([ 'SSH-2.0-x', 'no answer of HTTP' ], [ '', 'no answer' ],
    [ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        'in chunks' ], [ "HTTP/1.1 200 OK\r\n\r\n{", 'JSON' ],
    [ "HTTP/1.1 301 \x1b[2J\r\nLocation: /\r\n\r\n", 'answered 301' ]) {
    my ($bytes, $says) = @$_;
    my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my $c = $s->accept;
        sysread $c, my $request, 4096;
        syswrite $c, $bytes;
        POSIX::_exit(0);
    }
    ($code, $out, $err) = advise(undef, 'http://127.0.0.1:' . $s->sockport
        . '/');
    waitpid $pid, 0;
    is $code, 1, "$says: refused";
    like $err, qr/\Q$says\E/, 'and said why';
    unlike $err, qr/[^\n -~]/, 'in plain characters';
}
$h->finish;
done_testing;
