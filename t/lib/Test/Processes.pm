# SPDX-License-Identifier: Apache-2.0
package Test::Processes;

# What a test sees of its httpd's processes and threads in /proc: the base
# class of Test::Httpd, which knows the parent's pid ({pid}) and wait_for().

use strict;
use warnings;
use Exporter qw(import);
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(slurp cpus lacks_two_cpus threads_of);

# A file's bytes; '' if there is none to read.
sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or return '';
    local $/;
    my $text = <$fh>;
    return $text // '';
}

# The CPUs that this test, and so what it starts, may use, ascending.
sub cpus {
    my ($list) =
        slurp('/proc/self/status') =~ /^Cpus_allowed_list:\s*(\S+)/m;
    return map { /(\d+)-(\d+)/ ? ($1 .. $2) : $_ } split /,/, $list;
}

# Why a test that places threads on CPUs 0 and 1 cannot run here; or ''.
sub lacks_two_cpus {
    my @cpus = cpus();
    return '' if @cpus > 1 && $cpus[0] == 0 && $cpus[1] == 1;
    return "needs CPUs 0 and 1, may use @cpus";
}

# Waits a moment for the threads of a child, and of those that have begun to
# have some: with few of them httpd closes kept connections, as it does when
# all are busy. Programs that log, and mod_cgid's daemon, have one thread.
sub with_threads {
    my ($self) = @_;
    my $all = $self->_all_threads or return $self;
    $self->wait_for(sub {
        my @n = map { threads_of($_) } $self->children;
        return !@n || grep({ $_ >= $all } @n)
            && !grep { $_ > 1 && $_ < $all } @n;
    }, 5);
    return $self;
}

# How many threads a child has at least, the listener and the main thread
# included; 0: none, or the configuration does not tell.
sub _all_threads {
    my ($self) = @_;
    my ($workers) = reverse slurp("$self->{root}/httpd.conf")
        =~ /^ThreadsPerChild (\d+)/mg;
    return $self->{mpm} eq 'prefork' || !$workers ? 0 : $workers + 2;
}

# How many threads a process has.
sub threads_of { my @t = glob "/proc/$_[0]/task/*"; return scalar @t }

# Stops processes, and waits until every thread of them stands still: the one
# that takes the signal stops the others when it gets a CPU. @return true then
sub freeze {
    my ($self, @pids) = @_;
    kill 'STOP', @pids;
    return $self->wait_for(sub {
        !grep { slurp($_) !~ /\) [TtZX] / }
            map glob("/proc/$_/task/*/stat"), @pids;
    }, 10);
}

# Process ids of the children that are of the parent and alive, ascending.
sub children {
    my ($self) = @_;
    my @pids;
    for my $stat (glob '/proc/[0-9]*/stat') {
        my $text = slurp($stat);
        my ($pid, $state, $ppid) = $text =~ /^(\d+) \(.*\) (\S) (\d+)/s
            or next;
        push @pids, $pid if $ppid == $self->{pid} && $state ne 'Z';
    }
    @pids = sort { $a <=> $b } @pids;
    return @pids;
}

# Threads of all children, or of those pids given in pids => [...]: hashes of
# pid, tid, name, role (listener worker static main other), index, cpus
# (Cpus_allowed_list). With a role given only those.
sub threads {
    my ($self, $role, %o) = @_;
    my @rows;
    for my $pid (@{ $o{pids} || [ $self->children ] }) {
        for my $dir (glob "/proc/$pid/task/[0-9]*") {
            my ($tid) = $dir =~ /(\d+)$/;
            my $name = slurp("$dir/comm");
            my ($cpus) = slurp("$dir/status")
                =~ /^Cpus_allowed_list:\s*(\S+)/m or next;
            chomp $name;
            my ($r, $i) = $name =~ m{^httpd/listen} ? ('listener', 0)
                : $name =~ m{^httpd/w(\d+)} ? ('worker', $1 + 0)
                : $name =~ m{^httpd/static} ? ('static', 0)
                : $tid == $pid ? ('main', 0) : ('other', 0);
            next if $role && $r ne $role;
            push @rows, { pid => $pid, tid => $tid, name => $name,
                role => $r, index => $i, cpus => $cpus };
        }
    }
    return @rows;
}

# How many descriptors a process has open.
sub descriptors {
    my ($self, $pid) = @_;
    my @fds = glob "/proc/$pid/fd/*";
    return scalar @fds;
}

# CPU time that it has used, in clock ticks (a hundredth of a second).
sub cpu_ticks {
    my ($self, $pid) = @_;
    my $stat = slurp("/proc/$pid/stat");
    $stat =~ s/.*\) //s;
    my @f = split ' ', $stat;
    return $f[11] + $f[12];
}

1;
