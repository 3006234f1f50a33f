# SPDX-License-Identifier: Apache-2.0
# What makes the loop fast, counted instead of timed: system calls per
# request, epoll_ctl calls per connection.
use strict;
use warnings;
use POSIX qw(:sys_wait_h);
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep);

plan skip_all => 'strace cannot be used here'
    if system('strace -f -o /dev/null true >/dev/null 2>&1');
plan skip_all => 'a sanitizer has system calls of its own'
    if $ENV{SANITIZER};

my $h = Test::Static::server(mpm_conf => "ThreadsPerChild 4\n",
    conf => <<'END');
FixedStaticMemory 64K 16M
FixedStaticCache 1000 60s
FixedSteering off
CPUAffinityWatch off
MaxKeepAliveRequests 0
KeepAliveTimeout 60
END
Test::Static::old_file($h, 'large.bin', 'l' x 200_000);
$h->start;
ok $h->learn("/$_"), "$_ is known" for '1k.txt', 'large.bin';
my ($loop) = $h->threads('static');
ok $loop, 'there is a loop' or BAIL_OUT('no loop');

# The loop's system calls while the sub runs: name => count.
sub calls {
    my ($sub) = @_;
    my $out = $h->root . '/run/strace';
    unlink $out;
    my $pid = fork // die;
    if (!$pid) {
        open STDERR, '>', "$out.err";
        exec 'timeout', 60, 'strace', '-c', '-U', 'name,calls', '-o', $out,
            '-p', $loop->{tid} or POSIX::_exit(127);
    }
    my $on = $h->wait_for(sub {
        Test::Httpd::slurp("$out.err") =~ /attached/;
    }, 10);
    my $n = $sub->();
    sleep 0.2;
    # timeout passes the signal on
    kill 'INT', $pid;
    waitpid $pid, 0;
    my %calls = map { /^(\w+) +(\d+)\s*$/ ? ($1, $2) : () }
        split /\n/, Test::Httpd::slurp($out);
    delete $calls{total};
    return $on ? \%calls : undef;
}

sub total {
    my ($calls, @names) = @_;
    my $sum = 0;
    $sum += $calls->{$_} // 0 for @names ? @names : keys %$calls;
    return $sum;
}

# 20 connections that take turns, each asks 100 times.
my $requests = 2000;
my @open = map Test::Client->new($h->port), 1 .. 20;
$_->get('/1k.txt') for @open;
my ($before, $good) = ($h->counter('loop_hits'), 0);
my $c = calls(sub {
    for (1 .. $requests / @open) {
        $_->send(Test::Client::request('/1k.txt')) for @open;
        for (@open) {
            my $r = $_->answer;
            $good++ if $r && $r->{status} == 200;
        }
    }
});
SKIP: {
    skip 'strace may not attach', 5 unless $c;
    is $good, $requests, "$requests requests on 20 connections";
    my $hits = $h->counter('loop_hits') - $before;
    # one in a thousand is an audit, and comes back with a crossing
    cmp_ok $hits, '>', $requests * .97, "$hits of them by the loop";
    my $per = total($c, grep !/^epoll_p?wait/, keys %$c) / $requests;
    cmp_ok $per, '<=', 2.1, "$per system calls per request beside epoll_wait"
        or diag explain $c;
    cmp_ok total($c, 'epoll_ctl'), '<', $requests / 50,
        'epoll_ctl is not called per request';
    cmp_ok total($c, 'accept4', 'openat', 'stat', 'newfstatat', 'fstat'), '<',
        $requests / 50, 'no file is opened or looked at per request';
}

# Pipelined: one send for many.
$c = calls(sub {
    for (1 .. 20) {
        my $p = $open[0];
        $p->send(Test::Client::request('/1k.txt') x 16);
        $p->answer for 1 .. 16;
    }
});
SKIP: {
    skip 'strace may not attach', 1 unless $c;
    my $n = total($c, qw(sendto sendmsg writev write));
    cmp_ok $n, '<=', 60, "$n sends for 320 pipelined answers"
        or diag explain $c;
}

# Larger than memory: head and sendfile.
$c = calls(sub {
    for (1 .. 100) {
        $open[1]->get('/large.bin');
        # httpd, once it has the connection (an audit), keeps a client that
        # never pauses
        select undef, undef, undef, 0.004;
    }
});
SKIP: {
    skip 'strace may not attach', 2 unless $c;
    my $n = total($c, 'sendfile');
    # an audit, and what a quick client sends before it is over, is httpd's
    cmp_ok $n, '>=', 80, "$n sendfile for 100 large answers";
    is total($c, 'pread64'), 0, 'none is read'
        or diag explain $c;
}

# A connection per request.
$_->close for @open;
$c = calls(sub {
    for (1 .. 300) {
        my $one = Test::Client->new($h->port);
        $one->get('/1k.txt', 'Connection: close');
        $one->close;
    }
});
SKIP: {
    skip 'strace may not attach', 2 unless $c;
    my $n = total($c, 'epoll_ctl') / 300;
    cmp_ok $n, '<=', 2.1, "$n epoll_ctl per connection" or diag explain $c;
    $n = total($c) / 300;
    cmp_ok $n, '<=', 14, "$n system calls per connection in all"
        or diag explain $c;
}
$h->finish;
done_testing;
