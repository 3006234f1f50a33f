# SPDX-License-Identifier: Apache-2.0
package Test::Cgroup;

# A control group of a test's own, with a limit on memory or CPUs, where one may be
# made: below the test's own group (version 1), or beside it (version 2, where
# a group with processes in it has no groups with limits below).
#
#   my $g = Test::Cgroup->memory(64 << 20) or skip Test::Cgroup::reason();
#   Test::Httpd->new(prefix => [ $g->prefix ], ...);
#   $g->pressed;     # how often the limit was met
#   $g->killed;      # processes that the kernel has ended for it
#   $g->remove;      # after its processes have ended

use strict;
use warnings;
use Test::Httpd;
use Time::HiRes qw(sleep);

my $reason = 'no control groups';

sub reason { return $reason }

# How many CPUs' time the groups of this test allow it, a fraction maybe;
# undef: no limit.
sub cpu_quota {
    my @mounts = map { [ (split ' ')[ 1 .. 3 ] ] } split /\n/,
        Test::Httpd::slurp('/proc/mounts');
    my $own = Test::Httpd::slurp('/proc/self/cgroup');
    my $least;
    for (@mounts) {
        my ($dir, $type, $options) = @$_;
        my $group;
        if ($type eq 'cgroup' && $options =~ /\bcpu\b/) {
            ($group) = $own =~ /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(\S+)/m;
        }
        elsif ($type eq 'cgroup2') {
            ($group) = $own =~ /^0::(\S+)/m;
        }
        next unless defined $group;
        $group =~ s{/+\z}{};
        while (1) {
            my $text = Test::Httpd::slurp("$dir$group/cpu.max")
                || Test::Httpd::slurp("$dir$group/cpu.cfs_quota_us")
                . Test::Httpd::slurp("$dir$group/cpu.cfs_period_us");
            my ($quota, $period) = $text =~ /^(\d+)\s+(\d+)$/m;
            $least = $quota / $period
                if $period && (!$least || $quota / $period < $least);
            $group =~ s{/[^/]*\z}{} or last;
        }
    }
    return $least;
}

# The directories where a group can be made, with the version.
sub _places {
    my @mounts = map { [ (split ' ')[ 1 .. 3 ] ] } split /\n/,
        Test::Httpd::slurp('/proc/mounts');
    my $own = Test::Httpd::slurp('/proc/self/cgroup');
    my @places;
    for (@mounts) {
        my ($dir, $type, $options) = @$_;
        if ($type eq 'cgroup' && $options =~ /\bmemory\b/
            && $own =~ /^\d+:memory:(\S+)/m) {
            push @places, [ 1, $dir . $1 ];
        }
        if ($type eq 'cgroup2' && $own =~ /^0::(\S+)/m) {
            (my $beside = $dir . $1) =~ s{/[^/]*\z}{};
            push @places, [ 2, $beside ]
                if length $beside >= length $dir
                && Test::Httpd::slurp("$beside/cgroup.subtree_control")
                =~ /\bmemory\b/;
        }
    }
    return @places;
}

sub _write {
    my ($path, $text) = @_;
    open my $f, '>', $path or return 0;
    print {$f} $text;
    return close $f;
}

# A group that may have so many bytes, file pages included; undef: not here.
sub memory {
    my ($class, $bytes) = @_;
    for (_places()) {
        my ($version, $above) = @$_;
        my $dir = "$above/cpuaff-test-$$";
        if (!mkdir $dir) {
            $reason = "$dir: $!";
            next;
        }
        my $self = bless { dir => $dir, version => $version, owner => $$ },
            $class;
        my $limit = $version == 1 ? 'memory.limit_in_bytes' : 'memory.max';
        return $self if _write("$dir/$limit", $bytes);
        $reason = "$dir/$limit: $!";
    }
    return;
}

# A group whose processes run on those CPUs (version 1); undef: not here.
sub cpuset {
    my ($class, $cpus) = @_;
    my ($above) = Test::Httpd::slurp('/proc/mounts')
        =~ /^\S+ (\S+) cgroup \S*\bcpuset\b/m
        or return _none('no cpuset of version 1');
    my ($own) = Test::Httpd::slurp('/proc/self/cgroup')
        =~ /^\d+:cpuset:(\S+)/m;
    $above .= $own if defined $own && $own ne '/';
    our $made;
    my $dir = "$above/cpuaff-test-$$-" . ++$made;
    mkdir $dir or return _none("$dir: $!");
    my $self = bless { dir => $dir, version => 1, owner => $$ }, $class;
    (my $mems = Test::Httpd::slurp("$above/cpuset.mems")) =~ s/\s+\z//;
    return $self if _write("$dir/cpuset.mems", $mems) && $self->cpus($cpus);
    return _none("$dir/cpuset.cpus: $!");
}

# Changes them. @return true if the kernel does it
sub cpus {
    my ($self, $cpus) = @_;
    return _write("$self->{dir}/cpuset.cpus", $cpus);
}

sub _none { $reason = $_[0]; return }

sub prefix {
    my ($self) = @_;
    return ('sh', '-c',
        "echo \$\$ >$self->{dir}/cgroup.procs && exec \"\$\@\"", 'sh');
}

sub _count {
    my ($self, $file, $re) = @_;
    my ($n) = Test::Httpd::slurp("$self->{dir}/$file") =~ $re;
    return $n // 0;
}

sub pressed {
    my ($self) = @_;
    return $self->{version} == 1
        ? $self->_count('memory.failcnt', qr/^(\d+)/)
        : $self->_count('memory.events', qr/^max (\d+)/m);
}

sub killed {
    my ($self) = @_;
    return $self->_count(
        $self->{version} == 1 ? 'memory.oom_control' : 'memory.events',
        qr/^oom_kill (\d+)/m);
}

# Processes in it.
sub processes {
    my ($self) = @_;
    return split /\n/, Test::Httpd::slurp("$self->{dir}/cgroup.procs");
}

sub remove {
    my ($self) = @_;
    return 1 if $self->{removed};
    for (1 .. 20) {
        return $self->{removed} = 1 if rmdir $self->{dir};
        sleep 0.1;
    }
    return 0;
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $!);
    $self->remove if $self->{owner} == $$;
}

1;
