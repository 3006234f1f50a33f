# SPDX-License-Identifier: Apache-2.0
# Many requests in one packet, known and unknown ones mixed, split anywhere,
# half-closed: all are answered, in order.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep);

my $h = Test::Static::server(modules => [qw(cgid cgi)], conf => <<'END');
FixedStaticMemory 64K 16M
MaxKeepAliveRequests 0
KeepAliveTimeout 60
END
my %body = map { ("/f$_.txt" => "file $_\n" x (1 + $_ * $_ * 40)) } 0 .. 9;
$body{'/big.bin'} = join '', map chr($_ % 251), 1 .. 300_000;
Test::Static::old_file($h, $_, $body{$_}) for keys %body;
$h->start;
my @known = sort keys %body;
ok $h->learn($_), "$_ is known" for @known[ 0 .. 6 ];
@known = (@known[ 1 .. 6 ], '/big.bin');

# Sends targets as one piece of bytes in pieces of the given sizes; reads
# all. @return a text that says what was wrong
sub pipeline {
    my ($targets, %o) = @_;
    my $c = Test::Client->new($h->port);
    my $bytes = join $o{between} // '', map Test::Client::request($_,
        $o{last_closes} && $_ eq $targets->[-1] ? 'Connection: close' : ()),
        @$targets;
    my $size = $o{size} || length $bytes;
    while (length $bytes) {
        $c->send(substr $bytes, 0, $size, '') or return 'not sent';
        sleep $o{pause} if $o{pause} && length $bytes;
    }
    $c->shut if $o{half};
    for my $i (0 .. $#$targets) {
        my $r = $c->answer or return "no answer to number $i, $targets->[$i]";
        my $want = $body{ $targets->[$i] };
        return "number $i, $targets->[$i]: status $r->{status}"
            if $r->{status} != ($want ? 200 : 404);
        return "number $i, $targets->[$i]: another body"
            if $want && $r->{body} ne $want;
        last if $r->{head} =~ /^Connection: close/m;
    }
    return 'bytes that nobody asked for' if length $c->{in};
    return 'not closed: ' . $c->end if ($o{half} || $o{last_closes})
        && $c->end ne 'end';
    return '';
}

my $before = $h->counter('loop_hits');
is pipeline([ ($known[0]) x 200 ]), '', '200 times the same';
is pipeline([ ('/big.bin') x 30 ]), '', '30 times by sendfile';
is pipeline([ map $known[ $_ % @known ], 0 .. 299 ]), '',
    '300 of all sizes: more parts than one call takes';
cmp_ok $h->counter('loop_hits') - $before, '>', 400,
    'most of them by the loop';
is pipeline([ @known, '/none', @known, '/none2', @known ]), '',
    'unknown ones between them, in order';
is pipeline([ map { ($known[ $_ % @known ], "/none$_") } 0 .. 20 ]), '',
    'crossing over and over';
for my $size (1, 7, 50, 1000) {
    my @t = @known[ 0 .. ($size < 7 ? 2 : 6) ];
    is pipeline(\@t, size => $size, pause => .0005), '',
        "in pieces of $size bytes";
}
is pipeline([ @known, '/none', @known ], between => "\r\n\n"), '',
    'blank lines between requests are skipped, as by httpd';
is pipeline([ @known, '/none' ], between => "\n" x 10), '', 'ten of them';
isnt pipeline([ @known, '/none' ], between => "\n" x 11), '',
    'not eleven: the connection ends';
is pipeline([@known], half => 1), '', 'half-closed: all answers, then the end';
is pipeline([ '/none', @known ], half => 1), '', 'half-closed, httpd first';
is pipeline([ @known, '/none' ], half => 1), '', 'half-closed, httpd last';
is pipeline([ ($known[1]) x 50 ], half => 1, last_closes => 1), '',
    'the last one closes';

# Requests behind one that closes are not answered, but do not reset either.
{
    my $c = Test::Client->new($h->port);
    $c->send(Test::Client::request($known[0]));
    $c->answer;
    $c->send(Test::Client::request($known[4], 'Connection: close')
        . Test::Client::request($known[0]) x 100);
    my $r = $c->answer;
    is $r->{body}, $body{ $known[4] }, 'the whole answer that closes';
    is $c->end(5), 'end', 'an end, no reset, for all that was sent behind it';
    is $c->{in}, '', 'nothing more';
}

# A body that spells a request is no request (behind a proxy: smuggling).
for my $size (100, 9000, 40_000) {
    my $inner = Test::Client::request($known[2]);
    my $body = $inner x (1 + $size / length $inner);
    my $c = Test::Client->new($h->port);
    $c->get($known[1]);
    $c->send("POST $known[0] HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        . length($body) . "\r\n\r\n$body" . Test::Client::request($known[3]));
    my $r = $c->answer;
    is $r && $r->{status}, 200, "POST with $size bytes: its answer";
    $r = $c->answer;
    is $r && $r->{body}, $body{ $known[3] }, 'then that of the next request';
    ok !length $c->{in}, 'and no more';
}
$h->finish;
done_testing;
