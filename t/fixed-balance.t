# SPDX-License-Identifier: Apache-2.0
# A seat whose workers are all busy gives new connections to a seat with
# idle ones; with FixedBalance off they wait.
use strict;
use warnings;
use IO::Select;
use Test::More;
use Test::Httpd;
use Test::Slow qw(request served_by release);
use Time::HiRes qw(sleep time);

my $threads = 4;

sub server {
    my ($balance) = @_;
    return Test::Slow::server(threads => $threads, conf => <<"END");
FixedBalance $balance
LogFormat "%U %P" pid
CustomLog logs/pid pid
END
}

# Exhausts the workers of one process, and not of the other.
sub exhaust {
    my ($httpd) = @_;
    my (%busy, @slow);
    while (1) {
        my $s = request($httpd, '/cgi/slow')
            or die 'no connection';
        my $pid = served_by($s) or die 'a slow request was not served';
        push @slow, $s;
        return ($pid, @slow) if ++$busy{$pid} == $threads;
    }
}

# How many of @n quick requests are answered within the seconds.
sub quick {
    my ($httpd, $n, $seconds) = @_;
    my %open;
    for (1 .. $n) {
        my $s = request($httpd, '/1k.txt')
            or die 'no connection';
        $open{ fileno $s } = $s;
    }
    my $end = time + $seconds;
    my $answered = 0;
    while (%open && time < $end) {
        for my $s (IO::Select->new(values %open)->can_read(0.1)) {
            my $text = '';
            sysread $s, $text, 65536;
            delete $open{ fileno $s };
            $answered++ if $text =~ m{^HTTP/1.1 200};
        }
    }
    return ($answered, values %open);
}

sub pids {
    my ($httpd, $path) = @_;
    return Test::Httpd::slurp($httpd->root . '/logs/pid')
        =~ /^\Q$path\E (\d+)/mg;
}

subtest 'FixedBalance on' => sub {
    my $httpd = server('on');
    my ($busy, @slow) = exhaust($httpd);
    my ($answered) = quick($httpd, 16, 10);
    is $answered, 16, 'all are answered while one seat is exhausted';
    my @pids = pids($httpd, '/1k.txt');
    is scalar(grep { $_ == $busy } @pids), 0, 'none by the exhausted one';
    release($httpd);
    for my $s (@slow) {
        local $/;
        like readline($s), qr/end/, 'a slow one ends as if nothing had been';
    }
    ($answered) = quick($httpd, 16, 10);
    is $answered, 16, 'all are answered afterwards';
    $httpd->finish;
};

subtest 'FixedBalance off' => sub {
    my $httpd = server('off');
    my ($busy, @slow) = exhaust($httpd);
    my ($answered, @waiting) = quick($httpd, 16, 1);
    cmp_ok $answered, '<', 16, "some wait ($answered of 16 were answered)";
    release($httpd);
    for my $s (@waiting) {
        local $/;
        like readline($s), qr{^HTTP/1.1 200}, 'and are answered in the end';
    }
    $httpd->finish;
};

done_testing;
