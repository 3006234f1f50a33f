# SPDX-License-Identifier: Apache-2.0
# httpd's scoreboard: mod_status and ?auto count the loop's answers as they
# count those of httpd's threads.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use IO::Socket::INET;
use Time::HiRes qw(sleep);

my $conf = <<'END';
<Location /server-status>
    SetHandler server-status
</Location>
END

# What ?auto says, by key, and how long the answer was.
sub auto {
    my ($h) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $h->port, Timeout => 5) or return {};
    my $r = "GET /server-status?auto HTTP/1.0\r\nHost: localhost\r\n\r\n";
    print {$s} $r;
    my $all = join '', <$s>;
    my ($head, $text) = $all =~ /\A(.*?\r\n\r\n)(.*)\z/s or return {};
    my @odd = grep !/^[\w-]+(?: \w+)*: \S.*$/ && !/^ServerUptime:$/,
        split /\n/, $text;
    return { odd => \@odd, bytes => length $r . $all,
        map /^([^:]+): (.*)$/ ? ($1, $2) : (), split /\n/, $text };
}

# A look after which nothing is counted but itself: what was answered is
# counted a little later.
sub settled {
    my ($h) = @_;
    my ($now, $same) = (auto($h), 0);
    $h->wait_for(sub {
        sleep 0.05;
        my $next = auto($h);
        $same = $next->{'Total Accesses'} == $now->{'Total Accesses'} + 1
            ? $same + 1 : 0;
        $now = $next;
        return $same >= 4;
    }, 10);
    return $now;
}

# Looks until so many answers more are counted than at the look before; each
# look is counted, too, after it was answered. @return how many answers, and
# how many bytes besides those of the looks, sent and received (mod_logio), give or take one kilobyte
sub grown {
    my ($h, $before, $n) = @_;
    my ($looks, $bytes, $last) = (0, 0, $before);
    my ($accesses, $now);
    $h->wait_for(sub {
        $looks++;
        $bytes += $last->{bytes};
        $now = $last = auto($h);
        $accesses = $now->{'Total Accesses'} - $before->{'Total Accesses'}
            - $looks;
        return $accesses >= $n;
    }, 10);
    my $k = $now->{'Total kBytes'} - $before->{'Total kBytes'};
    return ($accesses, $k * 1024 - $bytes, $now);
}

# The answers to requests on one connection, as lengths of head and body.
sub raw {
    my ($h, @requests) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $h->port, Timeout => 5) or return;
    my @answers;
    for my $r (@requests) {
        my ($all, $body) = ('', 0);
        print {$s} $r;
        while (index($all, "\r\n\r\n") < 0) {
            sysread $s, $all, 65536, length $all or return @answers;
        }
        my $head = 4 + index $all, "\r\n\r\n";
        $body = $1 if $r !~ /^HEAD/ && $all !~ m{^HTTP/1.1 304}
            && substr($all, 0, $head) =~ /^Content-Length: (\d+)/m;
        while (length $all < $head + $body) {
            sysread $s, $all, 65536, length $all or return @answers;
        }
        push @answers, { head => $head, body => $body };
    }
    return @answers;
}

{
    my $t = Test::Twin->new(conf => $conf
        . "CustomLog logs/a \"%U\"\nMaxKeepAliveRequests 0\n"
        . "FixedStaticMemory 64K\n",
        modules => ['logio']);
    $t->file('big.bin', 'x' x 300_000);
    $t->file('whole.txt', 'y' x 4096);
    $t->start;
    my @r = map $t->request(@$_), [ '/whole.txt' ], [ '/big.bin' ],
        [ '/whole.txt', 'Range: bytes=0-2047' ],
        [ '/whole.txt', 'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT' ];
    push @r, $r[0] =~ s/^GET/HEAD/r;
    $t->learned($_) for @r;
    my $hits = $t->hits;
    my @before = map settled($_), $t->both;
    my ($n, $size) = (0, 0);
    for (1 .. 40) {
        for my $h ($t->both) {
            my @answers = raw($h, @r);
            next if $h == $t->stock;
            $n += @answers;
            $size += $_->{body} + $_->{head} for @answers;
            $size += length for @r;
        }
    }
    for my $i (0, 1) {
        my $who = ('stock', 'fixed')[$i];
        my ($accesses, $bytes, $now) =
            grown(($t->both)[$i], $before[$i], $n);
        is $accesses, $n, "$who: accesses";
        # mod_logio may have looked at the first byte of the next request
        cmp_ok abs($bytes - $size), '<=', 1024 + $n, "$who: bytes";
        next if !$i;
        is_deeply $now->{odd}, $before[0]{odd}, 'nothing but keys and values';
        ok exists $now->{"CPUAffinity$_"}, "CPUAffinity$_"
            for qw(Seats Accepts Requests Hits Handoffs Connections Bytes);
        cmp_ok $now->{CPUAffinityHits} - $hits, '>=', $n * 0.9,
            'most are the loop\'s, and ?auto says so';
    }
    $t->finish;
}
# Busy is who waits for a client. Counts go on over restarts; without
# ExtendedStatus there are none, but the state is there. ThreadLimit that
# leaves no room is raised.
{
    my $t = Test::Twin->new(conf => $conf . <<'END');
ThreadLimit 4
ExtendedStatus Off
SendBufferSize 16384
END
    $t->file('large.bin', 'x' x 2_000_000);
    $t->start;
    my $r = $t->request('/large.bin');
    $t->learned($r);
    like $t->fixed->log, qr/ThreadLimit 5\b/, 'room for the row is made';
    my $now = auto($t->fixed);
    ok !exists $now->{'Total Accesses'}, 'ExtendedStatus off: no counts';
    ok $t->fixed->wait_for(sub {
        return auto($t->fixed)->{Scoreboard} =~ /^...._/;
    }, 10), 'the loop is ready';
    for my $h ($t->both) {
        ok $h->wait_for(sub { auto($h)->{BusyWorkers} == 1 }, 10),
            'one is busy: the look';
    }
    my $hits = $t->hits;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $t->fixed->port, Timeout => 5);
    print {$s} $r;
    ok $t->fixed->wait_for(sub {
        return auto($t->fixed)->{Scoreboard} =~ /^....W/;
    }, 10), 'the loop is busy while a client takes its time';
    cmp_ok $t->hits, '>', $hits, 'with an answer of its own';
    close $s;
    ok $t->fixed->wait_for(sub {
        return auto($t->fixed)->{Scoreboard} =~ /^...._/;
    }, 10), 'and ready afterwards';
    $t->finish;
}
{
    my $t = Test::Twin->new(conf => $conf . "MaxKeepAliveRequests 0\n");
    $t->start;
    my $r = $t->request('/1k.txt');
    $t->learned($r);
    my $count = 0;
    for my $generation (0 .. 2) {
        my $now = settled($t->fixed);
        my ($accesses) = grown($t->fixed, $now,
            scalar raw($t->fixed, ($r) x 50));
        is $accesses, 50, "generation $generation: counted";
        cmp_ok $now->{'Total Accesses'}, '>=', $count,
            'and nothing is lost';
        $count = $now->{'Total Accesses'} + 50;
        next if $generation == 2;
        $t->fixed->graceful;
        $t->learned($r);
    }
    # the rows of processes that have gone are nobody's
    ok $t->fixed->wait_for(sub {
        my $now = auto($t->fixed);
        my $alive = () = $now->{Scoreboard} =~ /[^.]/g;
        return $alive == 5;
    }, 10), 'the rows of ended processes are free';
    my $pid = $t->fixed->json('/cpuaffinity?json')->{seats}[0]{pid};
    kill KILL => $pid;
    ok $t->fixed->wait_for(sub {
        my $now = auto($t->fixed);
        my $alive = () = ($now->{Scoreboard} // '') =~ /[^.]/g;
        return $alive == 5;
    }, 20), 'also of one that was killed';
    $t->finish;
}
done_testing;
