# SPDX-License-Identifier: Apache-2.0
# Descriptors run out: the loop stops accepting for a while, does not spin,
# the child lives on and serves again when there are some.
use strict;
use warnings;
use IO::Socket::INET;
use Test::More;
use Test::Httpd;
use Test::Static;
use Time::HiRes qw(sleep time);

my %setting = (
    conf => "FixedProcesses 1\nKeepAliveTimeout 60\nTimeout 60\n",
    mpm_conf => "ThreadsPerChild 64\n");
my ($httpd, $child);

# Starts, and waits until the child has opened all that it opens: it serves,
# and nothing has changed for a while.
sub start {
    $httpd = Test::Httpd->new(%setting, @_)->start;
    ($child) = $httpd->children;
    $httpd->get('/1k.txt', args => ['-H', 'Connection: close']);
    my ($last, $since) = (0, time);
    $httpd->wait_for(sub {
        ($last, $since) = (used(), time) if used() != $last;
        return time - $since >= 0.5;
    });
}

sub used { $httpd->descriptors($child) }
sub ticks { $httpd->cpu_ticks($child) }

# Ten more descriptors than are open without clients.
start();
my $limit = used() + 10;
$httpd->stop;
start(prefix => [ Test::Static::with_descriptors($limit) ]);
cmp_ok used(), '<=', $limit - 9, "a limit of $limit descriptors";

# Clients that never end their request take them.
my @silent = map {
    IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $httpd->port,
        Timeout => 5)
} 1 .. 20;
is scalar(grep { defined } @silent), 20, 'twenty clients connect';
# DEFER_ACCEPT: a connection is there when it has said something
print {$_} 'G' for @silent;
ok $httpd->wait_for(sub { used() >= $limit }, 10), 'all are used';
ok $httpd->wait_for(
    sub { $httpd->log_count(qr/accept: no new connections/) }, 10),
    'which is said';
my $before = ticks();
sleep 1.5;
cmp_ok ticks() - $before, '<', 50, 'the loop does not spin';
is $httpd->log_count(qr/accept: no new connections/), 1, 'and says it once';
close $_ for @silent;
my $r = $httpd->wait_for(sub {
    my $got = $httpd->get('/1k.txt', args => ['-m', 3]);
    $got->{status} == 200 && $got;
}, 20);
is $r && $r->{status}, 200, 'it serves again';
is_deeply [ $httpd->children ], [$child], 'the child lives';
$httpd->finish;
done_testing;
