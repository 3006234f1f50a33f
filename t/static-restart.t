# SPDX-License-Identifier: Apache-2.0
# Graceful restarts while the loop answers: nobody loses a request, on
# keep-alive connections, with one connection each, and in pipelines that are
# cut in two.
use strict;
use warnings;
use IO::Socket::INET;
use POSIX ();
use Test::Client;
use Test::Httpd;
use Test::Memory;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep);

my $restarts = $ENV{RESTARTS} || 8;
my $h = Test::Static::server(seats => 2,
    mpm_conf => "ThreadsPerChild 32\n", conf => <<'END');
MaxKeepAliveRequests 0
KeepAliveTimeout 30
END
$h->start;
my $end_file = $h->root . '/run/end';

# One answer: 1 good, 0 the connection ended in order after "Connection:
# close", -1 lost.
sub answer {
    my ($s, $buf) = @_;
    while ($$buf !~ /\r\n\r\n/) {
        sysread $s, $$buf, 65536, length $$buf or return -1;
    }
    my ($head) = $$buf =~ /\A(.*?\r\n\r\n)/s;
    my $all = length($head) + 1024;
    while (length $$buf < $all) {
        sysread $s, $$buf, 65536, length $$buf or return -1;
    }
    substr $$buf, 0, $all, '';
    return -1 unless $head =~ m{^HTTP/1.1 200 };
    return $head =~ /^Connection: close/mi ? 0 : 1;
}

# A client of a kind: prints "answers lost" when it ends.
sub client {
    my ($kind, $out) = @_;
    my ($n, $lost, $s, $buf) = (0, 0);
    my $request = "GET /1k.txt HTTP/1.1\r\nHost: localhost\r\n";
    while (!-e $end_file) {
        if (!$s) {
            $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                PeerPort => $h->port, Timeout => 10);
            $buf = '';
            if (!$s) { $lost++; next }
        }
        my $state;
        if ($kind eq 'each') {
            syswrite $s, $request . "Connection: close\r\n\r\n";
            $state = answer($s, \$buf);
        }
        elsif ($kind eq 'cut') {
            syswrite $s, "$request\r\n" . substr $request, 0, 20;
            $state = answer($s, \$buf);
            sleep 0.02;
            # the server may have said that it ends; then the rest is moot
            if ($state > 0) {
                syswrite $s, substr($request, 20) . "\r\n";
                $n++;
                $state = answer($s, \$buf);
            }
        }
        else {
            syswrite $s, "$request\r\n";
            $state = answer($s, \$buf);
            sleep 0.005 if $kind eq 'idle';
        }
        $n++;
        $lost++ if $state < 0;
        undef $s if $state <= 0;
    }
    print {$out} "$n $lost\n";
}

Test::Memory::settled($h, 2); # the first one is still growing
my $memory = Test::Memory::settled($h, 2);
local $SIG{PIPE} = 'IGNORE';
my @kinds = qw(keep idle idle cut each each);
my @pipes;
for my $kind (@kinds) {
    pipe my $r, my $w or die $!;
    my $pid = fork // die $!;
    if (!$pid) {
        close $r;
        client($kind, $w);
        close $w;
        POSIX::_exit(0);
    }
    close $w;
    push @pipes, [ $kind, $r, $pid ];
}
sleep 1;
my $good = 0;
for (1 .. $restarts) {
    $good++ if $h->graceful;
    sleep 0.5;
}
is $good, $restarts, "$restarts graceful restarts";
my $hits = 0;
$h->wait_for(sub { $hits = $h->counter('loop_hits') }, 10);
cmp_ok $hits, '>', 0, "the loops of the last generation answered ($hits)";
open my $f, '>', $end_file or die $!;
close $f;
for my $p (@pipes) {
    my ($kind, $r, $pid) = @$p;
    my ($n, $lost) = split ' ', <$r> // '0 1';
    waitpid $pid, 0;
    cmp_ok $n, '>', 20, "$kind: $n answers";
    is $lost, 0, "$kind: none lost";
}
Test::Memory::same($memory, Test::Memory::settled($h, 2), $restarts);
$h->finish;
done_testing;
