# SPDX-License-Identifier: Apache-2.0
package Test::Httpd;

# One private httpd for one test: its own ServerRoot under /tmp, its own
# ports on 127.0.0.1, stopped by pid. finish() (or the destructor) stops it
# and asserts that its error log is clean and that no core was left.
#
#   my $h = Test::Httpd->new(conf => "CPUAffinity cpu\n", mpm => 'event');
#   $h->start;                       # dies with the log when it cannot
#   is $h->get('/')->{status}, 200;
#   is_deeply [map $_->{cpus}, $h->threads('worker')], [...];
#   $h->graceful; $h->finish;
#
# Environment: BUILD (where the module is), APXS, HTTPD, PRELOAD and SANITIZER
# (set by "make asan"), KEEP=1 (leave the ServerRoot behind).

use strict;
use warnings;
use Cwd qw(getcwd abs_path);
use File::Path qw(make_path remove_tree);
use File::Find ();
use File::Temp qw(tempdir);
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP ();
use POSIX qw(:sys_wait_h);
use Socket qw(SOCK_DGRAM);
use Test::More ();
use Test::Processes qw(slurp cpus lacks_two_cpus threads_of);
use parent -norequire, 'Test::Processes';
use Time::HiRes qw(sleep time);

my $apxs = $ENV{APXS} || (-x '/usr/bin/apxs' ? '/usr/bin/apxs' : 'apxs');
my %used_port;

sub apxs { return $apxs }

sub httpd_binary {
    return $ENV{HTTPD} if $ENV{HTTPD};
    my ($dir, $name) = (`$apxs -q SBINDIR`, `$apxs -q PROGNAME`);
    chomp($dir, $name);
    return "$dir/$name";
}

sub libexec { my $d = `$apxs -q LIBEXECDIR`; chomp $d; return $d }

sub build_dir { return abs_path($ENV{BUILD} || 'build') }

sub slow { return ($ENV{SANITIZER} || $ENV{SLOW}) ? 4 : 1 }

# A TCP port on 127.0.0.1 that was free a moment ago.
sub free_port {
    for (1 .. 50) {
        my $s = IO::Socket::INET->new(
            LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 1)
            or next;
        my $port = $s->sockport;
        close $s;
        # below the ephemeral range there is no race with clients
        my $low = 10000 + ($port * 7919 + $$ * 31) % 20000;
        my $t = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
            LocalPort => $low, Listen => 1) or next;
        close $t;
        # other tests choose at the same time: a name in the kernel, which
        # goes with this process, keeps them from the same port
        my $mine = IO::Socket::UNIX->new(Type => SOCK_DGRAM,
            Local => "\0cpuaff-port-$low") or next;
        $used_port{$low} = $mine;
        return $low;
    }
    die "no free port";
}

# How a server listens: one address, all of IPv4, or all of both families (an
# IPv4 client's addresses are mapped ones then). What is learned must not
# depend on it, so servers take turns, each test file beginning at another;
# LISTENER=0, 1 or 2 in the environment decides for all.
my $listeners = unpack '%32C*', $0;

sub listener {
    my $kind = $ENV{LISTENER} // $listeners++ % 3;
    return ('Listen 127.0.0.1:@PORT@', 'Listen 0.0.0.0:@PORT@',
        'Listen @PORT@')[$kind] . "\n";
}

my @base_modules = qw(authn_core authz_core authz_host mime dir alias env
    setenvif log_config status);

# Options: conf (text), mpm (event), modules [extra names], module (1: load
# ours), listen ("127.0.0.1:PORT" lines or default), prefix [command in front,
# e.g. taskset -c 1], mpm_conf (text), allow_log (regexp of lines at alert or
# crit that this test expects), args [httpd arguments].
sub new {
    my ($class, %o) = @_;
    # A server that has closed is what a test finds out, not what ends it; a
    # handler, unlike IGNORE, is not what programs are started with.
    $SIG{PIPE} ||= sub { };
    my $self = bless {
        conf => '', mpm => 'event', modules => [], module => 1,
        prefix => [], args => [], mpm_conf => undef, %o
    }, $class;
    $self->{root} = tempdir('cpuaff-XXXXXX', DIR => '/tmp');
    chmod 0755, $self->{root};
    make_path("$self->{root}/$_") for qw(logs htdocs cgi-bin run sanitizer);
    chmod 01777, "$self->{root}/sanitizer"; # children write there too
    mkdir "$self->{root}/cores";
    chmod 0777, "$self->{root}/cores";    # children are www-data
    $self->{port} = free_port();
    $self->{owner} = $$;
    $self->write_file('htdocs/index.html', "<p>hello</p>\n");
    $self->write_file('htdocs/1k.txt', 'x' x 1023 . "\n");
    $self->write_conf($self->{conf});
    return $self;
}

sub root { $_[0]{root} }
sub port { $_[0]{port} }

# The port that @TLS@ stands for in a configuration.
sub tls_port { return $_[0]{tls_port} //= free_port() }

sub write_file {
    my ($self, $name, $text, $mode) = @_;
    my $path = "$self->{root}/$name";
    open my $fh, '>', $path or die "$path: $!";
    binmode $fh;
    print {$fh} $text;
    close $fh or die "$path: $!";
    chmod $mode, $path if $mode;
    return $path;
}

# Waits until every file of the document root is two seconds old by its ctime:
# httpd's answer with it may be learned.
sub settle {
    my ($self) = @_;
    my $last = 0;
    File::Find::find({ no_chdir => 1, wanted => sub {
        my $ctime = (Time::HiRes::stat $_)[10];
        $last = $ctime if -f _ && $ctime > $last;
    } }, "$self->{root}/htdocs");
    sleep 0.02 while time < $last + 2.05;
    return $self;
}

# With FixedStatic on, what is there at the start may be learned at once.
sub _may_learn {
    my ($self) = @_;
    return slurp("$self->{root}/httpd.conf") =~ /^\s*FixedStatic\s+on\b/mi
        ? $self->settle : $self;
}

# (Re)writes httpd.conf around the test's own text; @ROOT@, @PORT@ and @TLS@
# in it are replaced. @return its path
sub write_conf {
    my ($self, $text) = @_;
    my $root = $self->{root};
    my $libexec = libexec();
    my $mpm_conf = $self->{mpm_conf} // (
        $self->{mpm} eq 'prefork'
        ? "StartServers 2\nMinSpareServers 2\nMaxSpareServers 4\n"
        : "StartServers 2\nServerLimit 8\nThreadsPerChild 4\n"
        . "MinSpareThreads 1\nMaxSpareThreads 64\nMaxRequestWorkers 32\n");
    my %seen;
    my $load = join '', map {
        $seen{$_}++ || !-e "$libexec/mod_$_.so" ? ''
            : "LoadModule ${_}_module $libexec/mod_$_.so\n"
    } "mpm_$self->{mpm}", @base_modules, @{ $self->{modules} };
    my $ours = $self->{module}
        ? "LoadModule cpuaffinity_module " . build_dir()
        . "/mod_cpuaffinity.so\n" : '';
    my $listen = $self->{listen} // "Listen 127.0.0.1:$self->{port}\n";
    my $user = $> == 0 ? "User www-data\nGroup www-data\n" : '';
    my $conf = <<"END";
ServerRoot "$root"
DefaultRuntimeDir run
ServerName localhost
PidFile run/httpd.pid
CoreDumpDirectory "$root/cores"
ErrorLog logs/error_log
LogLevel info
$load$ours$listen$user$mpm_conf
TypesConfig /etc/mime.types
DocumentRoot "$root/htdocs"
DirectoryIndex index.html
<Directory "$root/htdocs">
    Require all granted
</Directory>
$text
END
    $conf =~ s/^TypesConfig.*\n//m unless -e '/etc/mime.types';
    $conf =~ s/\@ROOT\@/$root/g;
    $conf =~ s/\@PORT\@/$self->{port}/g;
    $conf =~ s/\@TLS\@/$self->tls_port/ge;
    return $self->write_file('httpd.conf', $conf);
}

sub _env {
    my ($self) = @_;
    my %e;
    if (my $pre = $ENV{PRELOAD}) {
        $e{LD_PRELOAD} = $pre;
        $e{ASAN_OPTIONS} = 'use_sigaltstack=0:detect_leaks=0:abort_on_error=0:exitcode=99:'
            . 'allow_user_segv_handler=0:'
            . "log_path=$self->{root}/sanitizer/asan";
        $e{UBSAN_OPTIONS} =
            "print_stacktrace=1:log_path=$self->{root}/sanitizer/ubsan";
    }
    return %e, %{ $self->{env} || {} };
}

sub _argv {
    my ($self, @more) = @_;
    return (@{ $self->{prefix} }, httpd_binary(), '-d', $self->{root},
        '-f', "$self->{root}/httpd.conf", @{ $self->{args} }, @more);
}

# Runs httpd with the arguments (-t, -t -D DUMP_CPUAFFINITY, …).
# @return (exit code, output of both streams)
sub run {
    my ($self, @args) = @_;
    my %e = $self->_env;
    my $out = "$self->{root}/run/output";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $out;
        open STDERR, '>&', \*STDOUT;
        @ENV{ keys %e } = values %e;
        exec 'timeout', 60, $self->_argv(@args) or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    my $code = $? >> 8;
    return ($code, slurp($out));
}

# Starts httpd in the foreground as our child and waits until it answers (or
# until its pid file is there, with wait => 'pid'). Dies with the log.
sub start {
    my ($self, %o) = @_;
    my %e = $self->_env;
    unlink "$self->{root}/run/httpd.pid";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        setpgrp 0, 0;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', "$self->{root}/logs/stdout";
        open STDERR, '>&', \*STDOUT;
        @ENV{ keys %e } = values %e;
        exec $self->_argv('-DFOREGROUND', @{ $o{args} || [] })
            or POSIX::_exit(127);
    }
    $self->{pid} = $pid;
    my $end = time + 15 * slow();
    while (time < $end) {
        if (waitpid($pid, WNOHANG) == $pid) {
            delete $self->{pid};
            die "httpd ended at start (status $?):\n" . $self->log
                . slurp("$self->{root}/logs/stdout");
        }
        if ($o{wait} && $o{wait} eq 'pid') {
            return $self if -s "$self->{root}/run/httpd.pid";
        }
        else {
            my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                PeerPort => $self->{port}, Timeout => 1);
            # the parent's socket answers before there is a child
            return $self->with_threads->_may_learn if $s
                && -s "$self->{root}/run/httpd.pid"
                && (my @c = $self->children
                    or grep { $_ eq '-X' } @{ $self->{args} },
                    @{ $o{args} || [] });
        }
        sleep 0.05;
    }
    die "httpd does not answer:\n" . $self->log;
}

sub parent { $_[0]{pid} }

# Waits until the condition is true, at most the seconds given (times 4 under
# a sanitizer). @return its value, or false
sub wait_for {
    my ($self, $condition, $seconds) = @_;
    my $end = time + ($seconds || 10) * slow();
    while (1) {
        my $v = $condition->();
        return $v if $v;
        return $v if time > $end;
        sleep 0.05;
    }
}

# One request by curl with a time limit. Options: args [curl arguments],
# port, https. @return {status, body, head}
sub get {
    my ($self, $path, %o) = @_;
    my $port = $o{port} || $self->{port};
    my $scheme = $o{https} ? 'https' : 'http';
    my $host = $o{host} || '127.0.0.1';
    my $head = "$self->{root}/run/head.$$";
    my $body = "$self->{root}/run/body.$$";
    unlink $head, $body;
    system 'timeout', 20, 'curl', '-sS', '-k', '-m', 15, '-D', $head, '-o',
        $body, '-g', '--path-as-is', @{ $o{args} || [] },
        "$scheme://$host:$port$path";
    my $h = slurp($head);
    my @status = $h =~ m{^HTTP/\S+ (\d+)}mg;
    return { status => $status[-1] // 0, head => $h, body => slurp($body),
        curl => $? >> 8 };
}

sub json {
    my ($self, $path) = @_;
    my $r = $self->get($path);
    return JSON::PP::decode_json($r->{body});
}

# A counter of the status (at /status), summed over all seats.
sub counter {
    my ($self, $name) = @_;
    my $sum = 0;
    $sum += $_->{$name} for @{ $self->json('/status?json')->{seats} };
    return $sum;
}

# Asks for the target until the loop answers it on a first and on a later
# request of a connection, on every seat. @return true when it does
sub learn {
    my ($self, $target, @fields) = @_;
    require Test::Client;
    return $self->wait_for(sub {
        my $before = $self->counter('loop_hits');
        for (1 .. 8) {
            my $c = Test::Client->new($self->port);
            for (1 .. 3) { $c->get($target, @fields) or last }
        }
        $self->counter('loop_hits') - $before >= 24;
    }, 10);
}

sub log { slurp("$_[0]{root}/logs/error_log") }

# Seats whose sockets a neighbour serves just now, as the log tells (at info).
# A process that comes late or stands still is served by its neighbour, which
# counts as its own what it accepts meanwhile.
sub adopted {
    my ($self) = @_;
    my %alive = map { $_ => 1 } $self->children;
    my %by;
    for (split /\n/, $self->log) {
        my ($pid, $does, $seat) = /\[pid\ (\d+)\b.*\bseat\ \d+:
            \ (serves|gives\ back)\ the\ connections\ of\ seat\ (\d+)/x
            or next;
        $by{"$pid $seat"} = $does eq 'serves' && $alive{$pid};
    }
    return map { (split)[1] } grep { $by{$_} } sort keys %by;
}

# How often a neighbour has begun or ended to serve another's sockets.
sub adoptions { $_[0]->log_count(qr/seat \d+: .* the connections of seat/) }

# Waits until each of so many seats has its process, which serves its sockets
# itself. The status is at the path. @return true then
sub seated {
    my ($self, $seats, $path) = @_;
    return $self->wait_for(sub {
        my $status = eval { $self->json("$path?json") } or return;
        my $n = grep { $_->{pid} } @{ $status->{seats} };
        return $n == $seats && !$self->adopted;
    }, 30);
}

# How often a pattern occurs in the error log.
sub log_count {
    my ($self, $re) = @_;
    my $n = () = $self->log =~ /$re/g;
    return $n;
}

# The lines of the log at warn and above. mpm_event's AH10159, which the fixed
# mode brings about, is none if the module's explanation comes right after it.
sub complaints {
    my ($self) = @_;
    my @lines = split /\n/, $self->log;
    return join "\n", map { $lines[$_] } grep {
        $lines[$_] =~ /:(?:emerg|alert|crit|error|warn)\]/
            && !($lines[$_] =~ /\[mpm_event:error\] .* AH10159: /
            && ($lines[ $_ + 1 ] // '') =~
            /\[cpuaffinity:notice\] .* AH10159 says only that /)
    } 0 .. $#lines;
}

sub signal { my ($self, $sig) = @_; kill $sig, $self->{pid} }

# Graceful restart; waits until the parent says that it resumed.
sub graceful {
    my ($self, $sig) = @_;
    my $before = $self->log_count(qr/resuming normal operations/);
    $self->signal($sig || 'USR1');
    return $self->wait_for(
        sub { $self->log_count(qr/resuming normal operations/) > $before },
        20);
}

# Stops httpd (TERM, or the signal given) and waits; KILL after 20 seconds.
# @return true when it ended by itself
sub stop {
    my ($self, $sig) = @_;
    my $pid = $self->{pid} or return 1;
    my @children = $self->children;
    kill $sig || 'TERM', $pid;
    my $ok = $self->wait_for(sub { waitpid($pid, WNOHANG) == $pid }, 20);
    if (!$ok) {
        kill 'KILL', @children, $pid;
        waitpid $pid, 0;
    }
    delete $self->{pid};
    return $ok;
}

# Stops and asserts a clean log: one test.
sub finish {
    my ($self) = @_;
    return if $self->{finished}++;
    # At TERM mpm_event looks at the sockets of busy workers. One that is just
    # closing a connection may have freed its socket, and the child crashes;
    # httpd as it is does so, too. So no connection ends at that moment.
    sleep 0.1;
    my $stopped = $self->stop;
    my @bad = $stopped ? () : ("httpd did not stop at TERM");
    my $allow = $self->{allow_log};
    for my $line (split /\n/, $self->log) {
        next unless $line =~ /:(?:emerg|alert|crit)\]|Sanitizer|runtime error:
            |AH0005[12]|exit\ signal|core\ dumped|stack\ smashing/x;
        push @bad, $line unless $allow && $line =~ $allow;
    }
    push @bad, split /\n/, slurp($_)
        for glob "$self->{root}/sanitizer/*";
    push @bad, "core file $_" for glob "$self->{root}/cores/*";
    Test::More::ok(!@bad, 'error log is clean, httpd stopped')
        or Test::More::diag(join "\n", @bad[0 .. ($#bad > 20 ? 20 : $#bad)]);
    remove_tree($self->{root}) unless $ENV{KEEP} || @bad;
    Test::More::diag("left: $self->{root}") if @bad;
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $@, $!);
    return unless $self->{owner} && $self->{owner} == $$;
    return if $self->{finished};
    $self->stop;
    remove_tree($self->{root}) unless $ENV{KEEP};
}

1;
