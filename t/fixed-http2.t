# SPDX-License-Identifier: Apache-2.0
# HTTP/2 over graceful restarts, stock httpd and the fixed mode in turns: every
# connection can be made, no more streams are refused (GOAWAY) than stock httpd
# refuses, and hardly one is left without a word: a few of a hundred thousand
# are with stock httpd, too. t/fixed-http2-unread.t has the cause of refusals.
use strict;
use warnings;
use Test::Httpd;
use Test::More;
use Time::HiRes qw(sleep);

plan skip_all => 'this httpd has no mod_http2'
    unless -e Test::Httpd::libexec() . '/mod_http2.so';
my $client = Test::Httpd::build_dir() . '/tool/streams';
plan skip_all => "$client is not built (make tool)" unless -x $client;

my @names = qw(answered lost refused connections failed);

# Two clients, so that both seats have some, over so many restarts.
# @return what has become of their requests
sub restarts {
    my ($h, $n) = @_;
    my @clients = map {
        pipe my $go, my $alive or die "pipe: $!";
        pipe my $out, my $write or die "pipe: $!";
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            open STDIN, '<&', $go or die;
            open STDOUT, '>&', $write or die;
            close $_ for $go, $write, $alive, $out;
            exec 'timeout', 120, $client, $h->port, 4, 4, '/1k.txt'
                or POSIX::_exit(127);
        }
        close $_ for $go, $write;
        [ $pid, $alive, $out ];
    } 1 .. 2;
    sleep 0.3;
    my $done = 0;
    for (1 .. $n) {
        $done++ if $h->graceful;
        sleep 0.3;
    }
    close $_->[1] for @clients;
    my %sum = (restarts => $done);
    for (@clients) {
        my ($pid, undef, $out) = @$_;
        my %v = (<$out> // '') =~ /(\w+) (\d+)/g;
        $sum{$_} += $v{$_} // 0 for @names;
        waitpid $pid, 0;
    }
    return \%sum;
}

my %all;
for my $round (1 .. 2) {
    for my $kind (qw(stock fixed)) {
        my $h = Test::Httpd->new(module => $kind ne 'stock',
            modules => ['http2'], mpm_conf => "StartServers 2\n"
                . "ThreadsPerChild 25\nMaxRequestWorkers 50\nServerLimit 24\n",
            conf => "Protocols h2c http/1.1\n"
                . ($kind eq 'stock' ? '' : "FixedProcesses 2\n"));
        $h->start;
        my $sum = restarts($h, 6);
        diag "$kind: ", join ', ', map {"$_ $sum->{$_}"} @names;
        $all{$kind}{$_} += $sum->{$_} for keys %$sum;
        $h->finish;
    }
}
my $fixed = $all{fixed};
is $fixed->{restarts}, 12, 'twelve restarts';
is $fixed->{failed}, 0, 'every connection could be made';
cmp_ok $fixed->{answered}, '>', 1000, "$fixed->{answered} answers";
cmp_ok $fixed->{connections}, '>', 12, 'connections end and begin';
cmp_ok $fixed->{lost}, '<=', 8 + $all{stock}{lost},
    "$fixed->{lost} streams ended without a word, $all{stock}{lost} of stock's";
cmp_ok $fixed->{refused}, '<=', 8 + $all{stock}{refused},
    "$fixed->{refused} refused, $all{stock}{refused} of stock's";
done_testing;
