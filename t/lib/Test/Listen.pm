# SPDX-License-Identifier: Apache-2.0
package Test::Listen;

# Listening sockets seen from outside, and clients that count what fails.

use strict;
use warnings;
use Exporter 'import';
use IO::Socket::IP;
use JSON::PP ();
use POSIX ();
use Test::Httpd ();
use Time::HiRes qw(time);

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
    my $path = $o{path} || '/';
    my $step = 'connect';
    my $text = eval {
        local $SIG{ALRM} = sub { die "timeout\n" };
        alarm 10 * Test::Httpd::slow();
        my $s = IO::Socket::IP->new(PeerHost => $o{host} || '127.0.0.1',
            PeerPort => $port) or die "$!\n";
        $step = 'send';
        print {$s} "GET $path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            or die "$!\n";
        $step = 'read';
        my $all = '';
        while (1) {
            my $n = sysread $s, $all, 65536, length $all;
            die "$!\n" unless defined $n;
            last unless $n;
        }
        alarm 0;
        $all;
    };
    my $why = $@;
    alarm 0;
    chomp $why;
    return (undef, "$step: $why") unless defined $text;
    return (undef, 'read: no answer')
        unless $text =~ m{^HTTP/1\.1 200 .*?\r\n\r\n}s;
    return substr $text, $+[0];
}

# Processes that fetch one after the other until told to end.
# @return a function that ends them: (good, [errors])
sub hammer {
    my ($port, %o) = @_;
    my @kids;
    for (1 .. $o{clients} || 2) {
        pipe my $r, my $w or die "pipe: $!";
        pipe my $go, my $alive or die "pipe: $!";
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            close $_ for $r, $alive, map { @$_[1, 2] } @kids;
            my ($good, @bad) = (0);
            my $limit = time + ($o{limit} || 120);
            while (time < $limit) {
                vec(my $ended = '', fileno $go, 1) = 1;
                last if select $ended, undef, undef, $o{pause} || 0;
                my ($body, $why) = fetch($port, %o);
                defined $body ? $good++ : push @bad, $why;
                last if @bad > 50;
            }
            print {$w} JSON::PP::encode_json([ $good, \@bad ]);
            close $w;
            POSIX::_exit(0);
        }
        close $_ for $w, $go;
        push @kids, [ $pid, $r, $alive ];
    }
    return sub {
        my ($good, @bad) = (0);
        close $_->[2] for @kids;
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
