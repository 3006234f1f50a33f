# SPDX-License-Identifier: Apache-2.0
# What /sys shows of the machine is a description that may be wrong: httpd
# starts all the same, with the CPUs that the kernel's mask has. Trees of files
# that no kernel makes, and containers' views of a real one.
use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use Test::Httpd;

my $lacks = Test::Httpd::lacks_two_cpus();
plan skip_all => $lacks if $lacks;
my $tool = Test::Httpd::build_dir() . '/cpuaffinity';
my $dir = tempdir('cpuaff-sys-XXXXXX', DIR => '/tmp', CLEANUP => 1);
my $cpu = 'sys/devices/system/cpu';
my $node = 'sys/devices/system/node';

sub put {
    my ($path, $text) = @_;
    (my $above = $path) =~ s{/[^/]*\z}{};
    make_path($above);
    open my $f, '>', $path or die "$path: $!";
    print {$f} $text;
    close $f;
}

# A machine with CPUs 0 and 1, two cores of a package and a node, in files.
sub tree {
    my $root = "$dir/root";
    remove_tree($root);
    put("$root/$cpu/$_", "0-1\n") for qw(online possible present);
    for my $c (0, 1) {
        my $t = "$root/$cpu/cpu$c/topology";
        put("$t/$_", "0\n") for qw(physical_package_id die_id);
        put("$t/core_id", "$c\n");
        put("$t/$_", "3\n") for qw(core_siblings package_cpus die_cpus);
        put("$t/$_", 1 << $c . "\n") for qw(thread_siblings core_cpus);
    }
    put("$root/$node/$_", "0\n") for qw(online possible has_cpu has_memory);
    put("$root/$node/node0/cpumap", "3\n");
    put("$root/$node/node0/meminfo", "Node 0 MemTotal: 4000000 kB\n");
    put("$root/$node/node0/distance", "10\n");
    put("$root/proc/cpuinfo", "processor : 0\n\nprocessor : 1\n");
    put("$root/proc/meminfo", "MemTotal: 4000000 kB\n");
    return $root;
}

# The tool over such a tree. @return (exit code, output of both streams)
sub plan_of {
    my ($root, @args) = @_;
    local $ENV{HWLOC_THISSYSTEM} = 1;
    local $ENV{HWLOC_FSROOT} = $root;
    my $out = "$dir/out";
    system("timeout 30 $tool plan --affinity cpu --processes 2 @args"
        . " >$out 2>&1");
    return ($? & 127 ? 128 + ($? & 127) : $? >> 8, Test::Httpd::slurp($out));
}

sub both_cpus_once {
    my ($root, $name) = @_;
    my ($code, $out) = plan_of($root);
    my @seats = $out =~ /^seat \d: process (\S+),/mg;
    is "$code: @seats", '0: 0 1', "$name: both CPUs have a seat"
        or diag $out;
    my @w = $out =~ /^(warning: .*(?:cannot be read|in the CPU mask).*)/mg;
    cmp_ok scalar @w, '<=', 1, '  and at most one warning' or diag $out;
    return $w[0] // '';
}

is both_cpus_once(tree(), 'a machine in order'), '', '  none here';

# What is done to the files, each to a tree of its own.
my %broken = (
    'node is empty' => sub { remove_tree("$_[0]/$node");
        make_path("$_[0]/$node") },
    'node is a file' => sub { remove_tree("$_[0]/$node");
        put("$_[0]/$node", "x\n") },
    'node is not there' => sub { remove_tree("$_[0]/$node") },
    'node is a loop' => sub { remove_tree("$_[0]/$node");
        symlink 'node', "$_[0]/$node" or die },
    'node0 is a loop' => sub { remove_tree("$_[0]/$node/node0");
        symlink '../node', "$_[0]/$node/node0" or die },
    'node0 has nothing' => sub { remove_tree("$_[0]/$node/node0");
        make_path("$_[0]/$node/node0") },
    'nodes with huge numbers' => sub {
        put("$_[0]/$node/online", "0-4294967295\n");
        put("$_[0]/$node/node$_/cpumap", "3\n")
            for 4294967295, '99999999999999999999' },
    'node cpumap is garbage' => sub {
        put("$_[0]/$node/node0/cpumap", "\x00\xff,,zz\n" x 50) },
    'node cpumap is long' => sub {
        put("$_[0]/$node/node0/cpumap", 'ffffffff,' x 20000 . "\n") },
    'node cpumap is empty' => sub { put("$_[0]/$node/node0/cpumap", '') },
    'node cpumap is a fifo' => sub { unlink "$_[0]/$node/node0/cpumap";
        POSIX::mkfifo("$_[0]/$node/node0/cpumap", 0600) or die },
    'online is empty' => sub { put("$_[0]/$cpu/online", '') },
    'online is garbage' => sub { put("$_[0]/$cpu/online", "no list\n") },
    'online is huge' => sub { put("$_[0]/$cpu/online", "0-4294967295\n") },
    'online is another' => sub { put("$_[0]/$cpu/online", "7\n") },
    'online is CPU 0' => sub { put("$_[0]/$cpu/online", "0\n") },
    'present is huge' => sub { put("$_[0]/$cpu/present", "0-4294967295\n") },
    'present is a fifo' => sub { unlink "$_[0]/$cpu/present";
        POSIX::mkfifo("$_[0]/$cpu/present", 0600) or die },
    'present is garbage' => sub { put("$_[0]/$cpu/present", "\xff" x 99) },
    'online is gone' => sub { unlink "$_[0]/$cpu/online" },
    'no directory of a CPU' => sub { remove_tree("$_[0]/$cpu/cpu$_")
        for 0, 1 },
    'topology is empty' => sub { remove_tree("$_[0]/$cpu/cpu1/topology");
        make_path("$_[0]/$cpu/cpu1/topology") },
    'siblings are huge' => sub {
        put("$_[0]/$cpu/cpu1/topology/$_", 'ffffffff,' x 5000 . "\n")
            for qw(core_siblings package_cpus thread_siblings) },
    'siblings are garbage' => sub {
        put("$_[0]/$cpu/cpu0/topology/$_", "-\n")
            for qw(core_siblings package_cpus thread_siblings core_cpus) },
    'numbers are negative' => sub {
        put("$_[0]/$cpu/cpu0/topology/$_", "-99999999999\n")
            for qw(physical_package_id die_id core_id) },
    'all of it is gone' => sub { remove_tree("$_[0]/sys") },
);
for my $name (sort keys %broken) {
    my $root = tree();
    $broken{$name}->($root);
    both_cpus_once($root, $name);
}

my $root = tree();
put("$root/$cpu/online", "0\n");
like both_cpus_once($root, 'online is CPU 0'), qr/CPU 1 is not online in /,
    '  that says which';
my ($code, $out) = plan_of($root, '--allowed 9');
isnt $code, 0, 'the tool refuses a mask without a CPU of this machine';

# A probe that hangs ends though the one that would kill it is gone: it has
# the listening sockets of an httpd.
{
    my $hangs = tree();
    unlink "$hangs/$node/node0/cpumap";
    POSIX::mkfifo("$hangs/$node/node0/cpumap", 0600) or die;
    local $ENV{HWLOC_THISSYSTEM} = 1;
    local $ENV{HWLOC_FSROOT} = $hangs;
    my $pid = open my $end, '-|', $tool, qw(plan --affinity cpu) or die;
    my @probe;
    for (1 .. 500) {
        @probe = split ' ',
            Test::Httpd::slurp("/proc/$pid/task/$pid/children");
        last if @probe;
        select undef, undef, undef, 0.01;
    }
    is scalar @probe, 1, 'a probe hangs';
    kill 'KILL', $pid;
    my $ended = eval {
        local $SIG{ALRM} = sub { die "late\n" };
        alarm 30;
        1 while defined readline $end; # its end is the probe's, too
        alarm 0;
        1;
    };
    ok $ended, '  and ends by itself' or kill 'KILL', @probe;
    close $end;
}

# httpd itself, with a mount of its own over a file of /sys.
sub over {
    my ($file, $source, @more) = @_;
    return ('unshare', '-m', '--propagation', 'private', 'sh', '-c',
        "mount --bind $source $file && exec \"\$\@\"", 'sh', @more);
}

sub serves {
    my ($name, $cpus, $log, @prefix) = @_;
    my $h = Test::Httpd->new(prefix => \@prefix, mpm_conf =>
        "ThreadsPerChild 4\n", conf => "CPUAffinity cpu\n"
        . "FixedProcesses " . scalar(@$cpus) . "\n");
    my ($rc, $text) = $h->run('-t');
    is $rc, 0, "$name: -t" or diag $text;
    $h->start;
    my $placed = sub {
        return $h->wait_for(sub {
            my %on = map { ($_->{cpus} => 1) } $h->threads('static');
            return "@{[ sort keys %on ]}" eq "@$cpus";
        });
    };
    ok $placed->(), "$name: a loop on each of CPUs @$cpus";
    is $h->get('/1k.txt')->{status}, 200, '  and an answer';
    ok $h->graceful && $placed->(), '  after a restart, too';
    like $h->log, $log, '  with a warning';
    is scalar(() = $h->log =~ /exit signal|AH0005[12]/g), 0,
        '  and no process ended by a signal';
    $h->finish;
}

SKIP: {
    put("$dir/zero", "0\n");
    make_path("$dir/nothing");
    my $online = "/$cpu/online";
    my @try = (over($online, "$dir/zero"), 'true');
    system("@try[0 .. 5] '$try[6]' sh true >/dev/null 2>&1") == 0
        or skip 'no mounts in a namespace of mount points', 1;
    serves('online 0, mask 1', [1], qr/CPU 1 is not online in /,
        over($online, "$dir/zero", 'taskset', '-c', 1));
    serves('online 0, mask 0-1', [0, 1], qr/CPU 1 is not online in /,
        over($online, "$dir/zero"));
    -d "/$node" or skip "no /$node", 1;
    serves('no nodes', [0, 1], qr/topology cannot be read/,
        over("/$node", "$dir/nothing"));
}

done_testing;
