# SPDX-License-Identifier: Apache-2.0
# What the loop does not recognise is httpd's: it is counted by reason, and
# named at LogLevel debug, the field by its name and never by its value.
use strict;
use warnings;
use Test::More;
use Test::Twin;

my $t = Test::Twin->new(modules => ['setenvif'],
    conf => qq{BrowserMatch "^Ancient/" old\n});
$t->start;

sub counts {
    my $learning = $t->fixed->json('/cpuaffinity?json')->{learning};
    return map { $_->{reason} => $_->{count} }
        @{ $learning->{not_recognised} };
}

my $secret = 'hunter2';
my @cases = (
    [ 'method', "POST /1k.txt HTTP/1.1\r\nHost: localhost\r\n"
        . "Connection: close\r\n\r\n" ],
    [ 'absolute', "GET http://localhost/1k.txt HTTP/1.1\r\n"
        . "Host: localhost\r\nConnection: close\r\n\r\n" ],
    [ 'target', "GET //1k.txt?$secret HTTP/1.1\r\nHost: localhost\r\n"
        . "Connection: close\r\n\r\n" ],
    [ 'field', $t->request('/1k.txt', "Negotiate: $secret",
        'Connection: close'), 'Negotiate' ],
    [ 'body', $t->request('/1k.txt', 'Content-Length: 0', 'Connection: close'),
        'Content-Length' ],
    [ 'twice', $t->request('/1k.txt', "Range: $secret", 'Range: b',
        'Connection: close') ],
    [ 'connection', $t->request('/1k.txt', 'Connection: close, X') ],
    [ 'size', $t->request('/1k.txt', 'Cookie: ' . 'c' x 8100,
        'Connection: close') ],
    [ 'host', "GET /1k.txt HTTP/1.1\r\nHost: a b\r\n\r\n" ],
    [ 'syntax', $t->request('/1k.txt', "X\@Y: $secret", 'Connection: close') ],
);
for (@cases) {
    my ($reason, $request, $name) = @$_;
    my %before = counts();
    my $log = length $t->fixed->log;
    $t->same("$reason: the same answer", $request);
    my %after = counts();
    is(($after{$reason} // 0) - ($before{$reason} // 0), 1,
        "$reason: counted once");
    my $said = substr $t->fixed->log, $log;
    my $end = quotemeta($name // '');
    like $said, qr/is httpd's \($reason\): [^\n]+$end$/m,
        "$reason: named";
    unlike $said, qr/$secret/, "$reason: without values";
}

# Kept connections: the next request is looked at by httpd's thread.
{
    my %before = counts();
    my $r = $t->request('/1k.txt', 'Negotiate: 1');
    $t->same('three on a connection', [ ($r) x 3 ]);
    my %after = counts();
    is $after{field} - $before{field}, 3, 'each is counted, once';
}

# A request that a SetEnvIf matches, of a file that is known.
{
    my $r = $t->request('/1k.txt', 'User-Agent: Modern/1');
    ok $t->learned($r), 'the file is known';
    my %before = counts();
    $t->same('BrowserMatch', $t->request('/1k.txt', 'User-Agent: Ancient/1'));
    my %after = counts();
    cmp_ok $after{setenvif} // 0, '>', $before{setenvif} // 0,
        'setenvif: counted';
    my ($o) = grep $_->{rule} eq 'R5', map { @{ $_->{obstacles} } }
        @{ $t->fixed->json('/cpuaffinity?json')->{learning}{servers} };
    is "$o->{what}, $o->{requests}", 'BrowserMatch sets old for some clients, 1',
        'for the directive';
    like "$o->{file}:$o->{line}", qr/httpd\.conf:[1-9]\d*$/, 'with its place';
    unlike +($t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY'))[1], qr/BrowserMatch/,
        'which is no obstacle to others';
}

my $page = $t->fixed->get('/cpuaffinity?prometheus')->{body};
like $page, qr/^httpd_cpuaffinity_not_recognised_total\{reason="field"\} \d/m,
    'for Prometheus';
like $t->fixed->get('/cpuaffinity')->{body}, qr/<td>twice<td/, 'on the page';
$t->finish;
done_testing;
