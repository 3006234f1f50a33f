# SPDX-License-Identifier: Apache-2.0
# A restart does not end httpd for what has become of the machine: CPUs that
# have gone, memory, descriptors, sockets and threads that cannot be had. What
# is left goes on, with a message, and the next restart has all again.
use strict;
use warnings;
use Test::More;
use Test::Cgroup;
use Test::Httpd;

my $lacks = Test::Httpd::lacks_two_cpus();
plan skip_all => $lacks if $lacks;

sub serves {
    my ($h, $name) = @_;
    my @bad = grep { ($h->get('/1k.txt')->{status} // '') ne '200' } 1 .. 12;
    ok !@bad, "$name: 12 connections are served" or diag $h->log;
}

sub loops { return scalar(() = $_[0]->threads('static')) }

# What a child of a new generation and its threads are where it is settled.
sub masks {
    my ($h, $role) = @_;
    my %on = map { ($_->{cpus} => 1) } $h->threads($role);
    return join ' ', sort keys %on;
}

# A CPU that goes: the cpuset shrinks, which is what an offline one does.
subtest 'a CPU that has gone' => sub {
    my $group = Test::Cgroup->cpuset('0-1')
        or plan skip_all => Test::Cgroup::reason();
    for my $strict ('off', 'on') {
        my $h = Test::Httpd->new(prefix => [ $group->prefix ],
            mpm_conf => "StartServers 2\nThreadsPerChild 4\n"
            . "MinSpareThreads 5\n",
            conf => "CPUAffinity map 0 1\nCPUAffinityStrict $strict\n");
        $h->start;
        ok $h->wait_for(sub { masks($h, 'worker') eq '0 1' }),
            "Strict $strict: on CPUs 0 and 1";
        ok $group->cpus('0') && $h->graceful, '  CPU 1 goes, a restart';
        serves($h, '  then');
        ok $h->wait_for(sub { masks($h, 'worker') eq '0' }), '  on what is left';
        like $h->log, qr/map 1: CPU 1 is outside the inherited mask/,
            '  and the log says so';
        ok $group->cpus('0-1') && $h->graceful, '  it comes back, a restart';
        ok $h->wait_for(sub { masks($h, 'worker') eq '0 1' }), '  is used again';
        $h->finish;
    }
    ok $group->remove, 'the group can go';
};

# The numbers of a configuration that is for a larger machine, at a restart.
subtest 'numbers past the machine' => sub {
    my $h = Test::Httpd->new(conf => "CPUAffinity map 0 1\n");
    $h->start;
    for my $text ('map 4096 0', 'map +77', 'map core:999 l3:99',
        "cpu\nCPUAffinityCPUs 5000-6000", "map 0\nCPUAffinityListener cpu"
        . ' exclusive', "cpu\nCPUAffinityListener cpu exclusive") {
        for my $strict ('off', 'on') {
            (my $name = $text) =~ s/\n/; /g;
            $h->write_conf("CPUAffinity $text\nCPUAffinityStrict $strict\n");
            ok $h->graceful, "CPUAffinity $name, Strict $strict: restarts";
            is $h->get('/1k.txt')->{status}, 200, '  and serves';
        }
    }
    $h->finish;
};

# Calls of the parent that fail. [what, what the log says, loops meanwhile]
my $refuse = Test::Httpd::build_dir() . '/preload/refuse.so';
for ([ 'socketpair', qr/channels of 2 seats could not be made/, 0 ],
    [ 'shared', qr/no shared memory for 2 seats/, 0 ],
    [ 'reuseport', qr/SO_REUSEPORT failed/, 0 ],
    [ 'memfd', qr/plan is not shown/, 2 ]) {
    my ($call, $message, $meanwhile) = @$_;
    subtest "$call fails" => sub {
        plan skip_all => 'a sanitizer is preloaded' if $ENV{PRELOAD};
        my $h = Test::Httpd->new(mpm_conf => "ThreadsPerChild 4\n",
            listen => "Listen 127.0.0.1:\@PORT\@\n",
            conf => "FixedProcesses 2\nCPUAffinity cpu\n");
        $h->{env} = { LD_PRELOAD => $refuse, REFUSE => $h->root };
        $h->start;
        ok $h->wait_for(sub { loops($h) == 2 }), 'two loops';
        serves($h, 'before');
        $h->write_file("refuse-$call", '');
        my $more = Test::Httpd::free_port();
        $h->{listen} .= "Listen 127.0.0.1:$more\n";
        $h->write_conf($h->{conf});
        ok $h->graceful, 'restarts';
        ok $h->wait_for(sub { loops($h) == $meanwhile
            && $h->children == 2 }), "$meanwhile loops";
        serves($h, 'meanwhile');
        like $h->log, $message, 'and the log says why';
        ok $h->graceful, 'and once more';
        serves($h, 'meanwhile');
        unlink $h->root . "/refuse-$call";
        ok $h->graceful, 'restarts when it works again';
        ok $h->wait_for(sub { loops($h) == 2 && $h->children == 2 }),
            'two loops';
        serves($h, 'after');
        $h->finish;
    };
}

done_testing;
