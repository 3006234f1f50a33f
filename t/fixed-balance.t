# A seat whose workers are all busy gives new connections to a seat with
# idle ones; with FixedBalance off they wait.
use strict;
use warnings;
use lib 't/lib';
use IO::Select;
use IO::Socket::INET;
use Test::More;
use Test::Httpd;
use Time::HiRes qw(sleep time);

my $threads = 4;

sub server {
    my ($balance) = @_;
    my $httpd = Test::Httpd->new(
        modules => ['cgi'],
        conf => <<"END",
FixedProcesses 2
FixedBalance $balance
FixedSteering off
LogFormat "%U %P" pid
CustomLog logs/pid pid
ScriptAlias /cgi/ \@ROOT\@/cgi-bin/
<Directory \@ROOT\@/cgi-bin>
    Require all granted
</Directory>
END
        mpm_conf => "ThreadsPerChild $threads\n");
    $httpd->write_file('cgi-bin/slow', <<'END', 0755);
#!/bin/sh
echo Content-Type: text/plain
echo
echo served by $PPID
while [ ! -e "$DOCUMENT_ROOT/go" ]; do sleep 0.1; done
echo end
END
    return $httpd->start;
}

sub request {
    my ($httpd, $path) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $httpd->port, Timeout => 5) or die "connect: $!";
    print {$s} "GET $path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    return $s;
}

# The process that serves a slow request, as soon as it says so.
sub served_by {
    my ($s) = @_;
    my $text = '';
    until ($text =~ /served by \d+/) {
        IO::Select->new($s)->can_read(10) or return 0;
        sysread($s, $text, 4096, length $text) or return 0;
    }
    return $text =~ /served by (\d+)/ ? $1 : 0;
}

# Exhausts the workers of one process, and not of the other.
sub exhaust {
    my ($httpd) = @_;
    my (%busy, @slow);
    while (1) {
        my $s = request($httpd, '/cgi/slow');
        my $pid = served_by($s) or die 'a slow request was not served';
        push @slow, $s;
        return ($pid, @slow) if ++$busy{$pid} == $threads;
    }
}

# How many of @n quick requests are answered within the seconds.
sub quick {
    my ($httpd, $n, $seconds) = @_;
    my %open = map { my $s = request($httpd, '/1k.txt'); (fileno $s => $s) }
        1 .. $n;
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
    return Test::Httpd::_slurp($httpd->root . '/logs/pid')
        =~ /^\Q$path\E (\d+)/mg;
}

subtest 'FixedBalance on' => sub {
    my $httpd = server('on');
    my ($busy, @slow) = exhaust($httpd);
    my ($answered) = quick($httpd, 16, 10);
    is $answered, 16, 'all are answered while one seat is exhausted';
    my @pids = pids($httpd, '/1k.txt');
    is scalar(grep { $_ == $busy } @pids), 0, 'none by the exhausted one';
    $httpd->write_file('htdocs/go', '');
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
    $httpd->write_file('htdocs/go', '');
    for my $s (@waiting) {
        local $/;
        like readline($s), qr{^HTTP/1.1 200}, 'and are answered in the end';
    }
    $httpd->finish;
};

done_testing;
