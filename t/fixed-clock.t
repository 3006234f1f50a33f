# SPDX-License-Identifier: Apache-2.0
# The time of day is set back by hours: what the module waits for, it waits for
# by the monotonic clock. A Listen that was removed is refused soon, surplus
# sockets are closed, idle connections end; Date is the new time.
use strict;
use warnings;
use IO::Socket::INET;
use Test::Client;
use Test::Httpd;
use Test::Listen qw(listening);
use Test::More;
use Test::Static;
use Time::Local qw(timegm);
use Time::HiRes qw(sleep time);

plan skip_all => 'a sanitizer is preloaded, and so would be the clock'
    if $ENV{PRELOAD};

my ($port, $gone) = map { Test::Httpd::free_port() } 1 .. 2;
my $conf = sub { "FixedProcesses $_[0]\nKeepAliveTimeout 3\n"
        . "FixedStatic on\n<Directory \"/\">\nAllowOverride None\n"
        . "</Directory>\n<Location \"/status\">\n"
        . "SetHandler cpuaffinity-status\n</Location>\n" };
my $h = Test::Httpd->new(listen => "Listen $port\nListen $gone\n",
    mpm_conf => "ThreadsPerChild 8\n", conf => $conf->(2));
my $file = $h->root . '/back';
$h->{port} = $port;
$h->{env} = { CLOCK_BACK => $file,
    LD_PRELOAD => Test::Httpd::build_dir() . '/preload/clock.so' };
Test::Static::old_file($h, '1k.txt', 'x' x 1024);
$h->start;
ok $h->learn('/1k.txt'), 'the loop answers';

# How many seconds the server's clock is behind ours.
sub behind {
    my $r = Test::Client->new($port)->get('/1k.txt') or return;
    my ($d, $m, $y, @time) = $r->{head}
        =~ /^Date: ..., (\d+) (...) (\d+) (\d+):(\d+):(\d+) GMT\r$/m or return;
    my $month = index('JanFebMarAprMayJunJulAugSepOctNovDec', $m) / 3;
    return time - timegm(reverse(@time), $d, $month, $y);
}
cmp_ok behind(), '<', 100, 'Date is right';

$h->{listen} = "Listen $port\n";
$h->write_conf($conf->(1));
ok $h->graceful, 'a restart with one Listen and one process less';
is scalar keys %{ listening($gone) }, 2, 'its sockets are there still';
$h->write_file('back', '');
ok $h->wait_for(sub { (behind() // 0) > 10_000 }), 'the clock is set back';
my $idle = Test::Client->new($port);
is +($idle->get('/1k.txt') || {})->{status}, 200, 'a connection is kept';
ok $h->wait_for(sub {
    !IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gone,
        Timeout => 1) && $!{ECONNREFUSED};
}, 15), 'the Listen that has gone is refused';
is $idle->end(10), 'end', 'the idle connection ends';
ok $h->wait_for(sub { keys %{ listening($port) } == 1 }, 45),
    'the surplus socket is closed';
$h->finish;
done_testing;
