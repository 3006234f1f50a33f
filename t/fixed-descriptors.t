# SPDX-License-Identifier: Apache-2.0
# Idle connections never take the descriptors that httpd answers with: with
# more of them than a process may have open, the oldest are closed, as httpd
# closes idle ones, and every request is answered.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;

my $ask = "GET /1k.txt HTTP/1.1\r\nHost: localhost\r\n\r\n";

# What connections are answered, one after the other, all of them kept.
sub answers {
    my ($h, $many, $kept) = @_;
    my %said;
    for (1 .. $many) {
        my $c = Test::Client->new($h->port);
        push @$kept, $c;
        $c->send($ask);
        my $r = $c->answer;
        $said{ $r ? $r->{status} : $c->{fate} // 'nothing' }++;
    }
    return join ', ', map {"$said{$_} x $_"} sort keys %said;
}

for my $static ('off', 'on') {
    my $port = Test::Httpd::free_port();
    my $h = Test::Httpd->new(listen => "Listen $port\n",
        prefix => [ 'prlimit', '--nofile=400' ],
        mpm_conf => "ServerLimit 1\nStartServers 1\nThreadsPerChild 8\n"
            . "MaxRequestWorkers 8\n",
        conf => "FixedProcesses 1\nFixedStatic $static\nKeepAliveTimeout 100\n");
    $h->{port} = $port;
    $h->start;
    # The oldest ones are not idle: half a request each, more than are looked
    # at in a turn.
    my @half = map Test::Client->new($h->port), 1 .. ($static eq 'on' ? 150 : 0);
    $_->send(substr $ask, 0, 20) for @half;
    my @kept;
    is answers($h, 500, \@kept), '500 x 200',
        "FixedStatic $static: every client is answered";
    is scalar(() = $h->log =~ /Too many open files/g), 0,
        '  and no descriptor was lacking';
    $kept[-1]->send($ask);
    is +($kept[-1]->answer // {})->{status}, 200, '  the newest are kept';
    $h->finish;
}
done_testing;
