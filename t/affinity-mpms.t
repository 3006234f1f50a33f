# SPDX-License-Identifier: Apache-2.0
# mpm_worker as mpm_event; mpm_prefork: process sets only. Names, the watcher,
# and that nothing happens while everything is off.
use strict;
use warnings;
use Test::More;
use Test::Httpd;

my $lacks = Test::Httpd::lacks_two_cpus();
plan skip_all => $lacks if $lacks;

my $status = <<'END';
<Location "/status">
    SetHandler cpuaffinity-status
</Location>
END

sub all_on {
    my ($h, $role, $count, $cpus) = @_;
    return $h->wait_for(sub {
        my @t = $h->threads($role);
        return @t == $count && !grep { $_->{cpus} ne $cpus } @t;
    });
}

subtest 'mpm_worker' => sub {
    my $h = Test::Httpd->new(mpm => 'worker', conf => <<"END");
CPUAffinity machine
CPUAffinityCPUs 0-1
CPUAffinityListener cpu exclusive
$status
END
    $h->start;
    ok all_on($h, 'worker', 8, '1'), 'workers keep off the listener';
    ok all_on($h, 'listener', 2, '0'), 'listeners have their CPU';
    $h->finish;
};

subtest 'mpm_prefork' => sub {
    my $h = Test::Httpd->new(mpm => 'prefork', conf => <<"END");
CPUAffinity map 1
CPUAffinityWatch 1
$status
END
    $h->start;
    ok $h->wait_for(sub { $h->children >= 2 }), 'children are there';
    # prefork may have one more at any time
    my $pinned = sub {
        my @t = $h->threads('main');
        return @t >= 2 && !grep { $_->{cpus} ne '1' } @t;
    };
    ok $h->wait_for($pinned), 'processes are pinned';
    my ($pid) = $h->children;
    is scalar($h->threads(undef, pids => [$pid])), 1, 'and have no thread';
    system "taskset -pc 0-1 $_ >/dev/null" for $h->children;
    ok $h->wait_for(sub {
        $h->get('/') for 1 .. 8;
        return $pinned->();
    }, 15), 'put back between connections';
    $h->finish;
};

subtest 'watcher' => sub {
    my $h = Test::Httpd->new(conf => <<"END");
CPUAffinity map 1
CPUAffinityWatch 1
$status
END
    $h->start;
    ok all_on($h, 'worker', 8, '1'), 'placed';
    my ($victim) = $h->threads('worker');
    system "taskset -pc 0-1 $victim->{tid} >/dev/null";
    ok all_on($h, 'worker', 8, '1'), 'a mask that was changed is put back';
    # which is said after it is done
    $h->wait_for(sub { $h->log_count(qr/put back 1 thread /) });
    is $h->log_count(qr/put back 1 thread /), 1, 'one line for one change';
    sleep 3;
    is $h->log_count(qr/put back/), 1, 'and none for later passes';
    my ($main) = $h->threads('main');
    is $main->{cpus}, '1', 'the main thread has the process set';
    unlike $main->{name}, qr/^httpd\//, "the process keeps its program's name";
    $h->finish;
};

subtest 'CPUAffinityWatch off' => sub {
    my $h = Test::Httpd->new(conf => "CPUAffinity map 1\n"
        . "CPUAffinityWatch off\n");
    $h->start;
    ok all_on($h, 'worker', 8, '1'), 'placed all the same';
    ok $h->wait_for(sub {
        return !grep { $_->{name} eq 'httpd/watch' } $h->threads;
    }), 'and the thread that did it has ended';
    $h->finish;
};

subtest 'CPUAffinity off does nothing' => sub {
    for my $text ('', "CPUAffinity off\n") {
        my $h = Test::Httpd->new(conf => $text);
        $h->start;
        my $name = $text ? 'off' : 'not given';
        is scalar(grep { $_->{name} =~ /^httpd\// } $h->threads), 0,
            "$name: no thread is named or made";
        is $h->log_count(qr/CPUAffinity:/), 0, "$name: no line is logged";
        my $links = join ' ', map { readlink($_) // '' }
            glob '/proc/' . $h->parent . '/fd/*';
        unlike $links, qr/cpuaffinity/, "$name: no shared memory";
        $h->finish;
    }
};

subtest 'HTTP/2: threads of other modules get the process set' => sub {
    my $h = Test::Httpd->new(modules => ['http2', 'watchdog'],
        conf => <<"END");
Protocols h2c http/1.1
CPUAffinity machine
CPUAffinityCPUs 0-1
CPUAffinityWorkers cpu
CPUAffinityWatch 1
END
    $h->start;
    ok $h->wait_for(sub { $h->threads('worker') == 8 }), 'workers are placed';
    my $r = $h->get('/1k.txt', args => ['--http2-prior-knowledge']);
    is $r->{status}, 200, 'h2c answers';
    like $r->{head}, qr{^HTTP/2 200}, 'over HTTP/2';
    ok $h->wait_for(sub {
        my @o = $h->threads('other');
        return @o && !grep { $_->{cpus} ne '0-1' } @o;
    }), 'its threads have the process set';
    my %names;
    $names{"$_->{pid} $_->{name}"}++ for $h->threads('worker');
    ok !grep({ $_ > 1 } values %names), 'no two threads have one name';
    $h->finish;
};

done_testing;
