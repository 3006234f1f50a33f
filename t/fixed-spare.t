# SPDX-License-Identifier: Apache-2.0
# mpm_event asks for more MaxRequestWorkers as soon as the threads of one
# process are busy, since the fixed mode sets MinSpareThreads high: the module
# explains that line, right after it, whatever LogLevel is; and only that line,
# only in the fixed mode.
use strict;
use warnings;
use IO::Socket::INET;
use Test::Httpd;
use Test::More;

# Keeps so many workers waiting for the rest of a request's head.
sub busy {
    my ($h, $n) = @_;
    return map {
        my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
            PeerPort => $h->port) or die "connect: $!";
        print {$s} "GET / HTTP/1.1\r\n";
        $s;
    } 1 .. $n;
}

my $says = qr/server\ is\ within\ MinSpareThreads/x;
my $h = Test::Httpd->new(mpm_conf => "ThreadsPerChild 8\n",
    conf => "FixedProcesses 2\nLogLevel error\n");
$h->start;
my @held = busy($h, 10);
ok $h->wait_for(sub { $h->log_count($says) }, 30),
    'ten of sixteen threads are busy: mpm_event complains';
ok $h->wait_for(sub { $h->log_count(qr/AH10159 says only/) }, 5),
    'which is explained';
like $h->log, qr/AH10159:\ [^\n]*\n
    [^\n]*:notice\][^\n]*\ AH10159\ says\ only\ that\ 8\ or\ more\ of\ the\ 16
    \ worker\ threads\ are\ busy[^\n]*ThreadsPerChild\ \(now\ 8\)\n/x,
    'in the next line, with the numbers';
is $h->complaints, '', 'so there is nothing to complain about';
is $h->log_count(qr/AH10159 says only/), $h->log_count($says),
    'once for each time';
close $_ for @held;
$h->finish;

# The same line without the mode: what it says is true.
$h = Test::Httpd->new(mpm_conf => "StartServers 2\nServerLimit 2\n"
        . "ThreadsPerChild 8\nMinSpareThreads 9\nMaxRequestWorkers 16\n",
    conf => "CPUAffinity auto\n");
$h->start;
@held = busy($h, 10);
ok $h->wait_for(sub { $h->log_count($says) }, 30), 'without the mode';
is $h->log_count(qr/AH10159 says only/), 0, 'it is not explained away';
like $h->complaints, $says, 'and is a complaint';
close $_ for @held;
$h->finish;
done_testing;
