package Test::Listen;

# Listening sockets seen from outside, and clients that count what fails.

use strict;
use warnings;
use Exporter 'import';
use IO::Socket::IP;
use JSON::PP ();
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(listening holds fetch hammer);

sub _lines {
    my ($path) = @_;
    open my $fh, '<', $path or return;
    return <$fh>;
}

# Inodes of the sockets that listen on a TCP port: /proc/net/tcp and tcp6.
# @return {inode => [waiting, backlog]}
sub listening {
    my ($port) = @_;
    my %inode;
    for (map { _lines("/proc/net/$_") } qw(tcp tcp6)) {
        my @f = split;
        next unless @f > 9 && $f[3] eq '0A';
        my ($p) = $f[1] =~ /:([0-9A-F]{4})$/ or next;
        my ($tx, $rx) = split /:/, $f[4];
        $inode{ $f[9] } = hex $rx if hex($p) == $port;
    }
    return \%inode;
}

# How many distinct sockets that listen on the port a process holds.
sub holds {
    my ($pid, $port) = @_;
    my $all = listening($port);
    my %seen;
    for (glob "/proc/$pid/fd/*") {
        my $to = readlink or next;
        $seen{$1} = 1 if $to =~ /^socket:\[(\d+)\]/ && exists $all->{$1};
    }
    return scalar keys %seen;
}

# One GET on a connection of its own. @return the body, or undef and why
sub fetch {
    my ($port, %o) = @_;
    my $s = IO::Socket::IP->new(PeerHost => $o{host} || '127.0.0.1',
        PeerPort => $port, Timeout => 5) or return (undef, "connect: $!");
    local $SIG{ALRM} = sub { die "alarm\n" };
    my $path = $o{path} || '/';
    my $text = eval {
        alarm 10;
        print {$s} "GET $path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            or die "send: $!\n";
        my $all = '';
        while (1) {
            my $n = sysread $s, $all, 65536, length $all;
            die "read: $!\n" unless defined $n;
            last unless $n;
        }
        alarm 0;
        $all;
    };
    my $why = $@;
    alarm 0;
    chomp $why;
    return (undef, $why) unless defined $text;
    return (undef, 'no answer') unless $text =~ m{^HTTP/1\.1 200 .*?\r\n\r\n}s;
    return substr $text, $+[0];
}

# Processes that fetch one after the other until told to end.
# @return a function that ends them: (good, [errors])
sub hammer {
    my ($port, %o) = @_;
    my @kids;
    for (1 .. $o{clients} || 2) {
        pipe my $r, my $w or die "pipe: $!";
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            close $r;
            my ($good, $end, @bad) = (0, 0);
            local $SIG{TERM} = sub { $end = 1 };
            my $limit = time + ($o{limit} || 60);
            while (!$end && time < $limit) {
                my ($body, $why) = fetch($port, %o);
                defined $body ? $good++ : push @bad, $why;
                sleep $o{pause} if $o{pause};
                last if @bad > 50;
            }
            print {$w} JSON::PP::encode_json([ $good, \@bad ]);
            close $w;
            require POSIX;
            POSIX::_exit(0);
        }
        close $w;
        push @kids, [ $pid, $r ];
    }
    return sub {
        my ($good, @bad) = (0);
        kill 'TERM', map { $_->[0] } @kids;
        for (@kids) {
            my ($pid, $r) = @$_;
            my $text = do { local $/; <$r> };
            my $result = eval { JSON::PP::decode_json($text) }
                || [ 0, ['client died'] ];
            $good += $result->[0];
            push @bad, @{ $result->[1] };
            waitpid $pid, 0;
        }
        @kids = ();
        return ($good, \@bad);
    };
}

1;
