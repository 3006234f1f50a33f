# Stopping and dying with connections waiting: a graceful restart serves
# them all, a graceful stop refuses new ones at once, a killed child takes
# only what it was serving along, a stuck one is stood in for.
use strict;
use warnings;
use lib 't/lib';
use IO::Select;
use IO::Socket::INET;
use Test::More;
use Test::Httpd;
use Time::HiRes qw(sleep time);

my $threads = 3;

# mod_cgid's daemon is forked, not executed: it must not hold our sockets.
sub server {
    my ($extra, $cgi) = @_;
    my $httpd = Test::Httpd->new(
        modules => [ $cgi // 'cgi' ],
        conf => <<"END" . ($extra // ''),
FixedProcesses 2
FixedSteering off
ScriptAlias /cgi/ \@ROOT\@/cgi-bin/
<Directory \@ROOT\@/cgi-bin>
    Require all granted
</Directory>
END
        mpm_conf => "ThreadsPerChild $threads\n");
    $httpd->write_file('cgi-bin/slow', <<'END', 0755);
#!/bin/sh
echo Content-Type: text/plain
echo
echo served by $PPID
while [ ! -e "$DOCUMENT_ROOT/go" ]; do sleep 0.1; done
echo end
END
    return $httpd->start;
}

sub request {
    my ($httpd, $path) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $httpd->port, Timeout => 5) or return;
    print {$s} "GET $path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    return $s;
}

# The answers to all within the seconds: '' for those that were closed,
# undef for those that had none.
sub answers {
    my ($seconds, @sockets) = @_;
    my %open = map { (fileno $_ => $_) } @sockets;
    my %text = map { (fileno $_ => undef) } @sockets;
    my $end = time + $seconds;
    while (%open && time < $end) {
        for my $s (IO::Select->new(values %open)->can_read(0.1)) {
            my $n = fileno $s;
            $text{$n} //= '';
            sysread($s, $text{$n}, 65536, length $text{$n}) and next;
            delete $open{$n};
        }
    }
    $text{$_} = undef for keys %open;
    return map { $text{ fileno $_ } } @sockets;
}

sub started {
    my ($s) = @_;
    my $text = '';
    until ($text =~ /served by \d+/) {
        IO::Select->new($s)->can_read(10) or return 0;
        sysread($s, $text, 4096, length $text) or return 0;
    }
    return $text =~ /served by (\d+)/ ? $1 : 0;
}

# Makes all workers of all processes busy.
sub exhaust {
    my ($httpd) = @_;
    my @slow;
    for (1 .. 2 * $threads) {
        my $s = request($httpd, '/cgi/slow');
        started($s) or die 'a slow request was not served';
        push @slow, $s;
    }
    return @slow;
}

# The two children, once they are there.
sub pair {
    my ($httpd) = @_;
    $httpd->wait_for(sub { my @c = $httpd->children; @c == 2 }, 10);
    return $httpd->children;
}

sub readable { my @r = IO::Select->new(@_)->can_read(0); return scalar @r }

sub all_ok { return scalar grep { ($_ // '') =~ m{^HTTP/1.1 200} } @_ }

subtest 'graceful restart with a full door' => sub {
    my $httpd = server();
    my @slow = exhaust($httpd);
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 20;
    sleep 0.3;
    is(readable(@waiting), 0, 'nobody can serve them');
    ok $httpd->graceful, 'restart';
    is all_ok(answers(15, @waiting)), 20, 'the new generation serves all';
    is(readable(@slow), 0, 'the slow ones go on');
    $httpd->write_file('htdocs/go', '');
    is scalar(grep { ($_ // '') =~ /end/ } answers(10, @slow)), 2 * $threads,
        'and end well';
    $httpd->finish;
};

subtest 'the mode is turned off with a full door' => sub {
    my $httpd = server();
    my @slow = exhaust($httpd);
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 20;
    sleep 0.3;
    my $on = $httpd->{conf};
    (my $off = $on) =~ s/^Fixed.*\n//mg;
    $httpd->write_conf($off);
    ok $httpd->graceful, 'restart';
    is all_ok(answers(15, @waiting)), 20, 'httpd as it was serves all';
    $httpd->write_file('htdocs/go', '');
    is scalar(grep { ($_ // '') =~ /end/ } answers(10, @slow)), 2 * $threads,
        'and what was begun is finished';
    $httpd->write_conf($on);
    ok $httpd->graceful, 'on again';
    ok $httpd->wait_for(sub { $httpd->threads('static') == 2 }, 10),
        'two loops';
    is all_ok(answers(15, map { request($httpd, '/1k.txt') } 1 .. 20)), 20,
        'and all is served';
    $httpd->finish;
};

subtest 'graceful stop with a full door' => sub {
    my $httpd = server("ScriptSock \@ROOT\@/run/cgisock\n", 'cgid');
    my @slow = exhaust($httpd);
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 10;
    sleep 0.3;
    $httpd->signal('WINCH');
    my $t = time;
    ok $httpd->wait_for(sub { !request($httpd, '/1k.txt') }, 5),
        'new connections are refused';
    my @got = answers(5, @waiting);
    is scalar(grep { defined && $_ eq '' } @got), 10,
        'those that waited are told at once';
    $httpd->write_file('htdocs/go', '');
    is scalar(grep { ($_ // '') =~ /end/ } answers(10, @slow)), 2 * $threads,
        'what was begun is finished';
    my $pid = $httpd->parent;
    ok $httpd->wait_for(sub { waitpid($pid, POSIX::WNOHANG()) == $pid }, 15),
        'httpd has ended';
    delete $httpd->{pid};
    $httpd->finish;
};

subtest 'a child is killed' => sub {
    my $httpd = server();
    my ($victim) = pair($httpd);
    kill 'STOP', $victim;
    sleep 0.1; # it may be accepting one just now
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 20;
    sleep 0.3;
    my $at_once = readable(@waiting);
    cmp_ok $at_once, '<', 20, "some wait for it (" . (20 - $at_once) . ')';
    kill 'KILL', $victim;
    is all_ok(answers(10, @waiting)), 20, 'its successor serves them';
    ok $httpd->wait_for(sub { my @c = $httpd->children; @c == 2 }, 10),
        'there are two again';
    is all_ok(answers(10, map { request($httpd, '/1k.txt') } 1 .. 20)), 20,
        'and serve';
    $httpd->finish;
};

subtest 'a child is stuck' => sub {
    my $httpd = server("LogLevel cpuaffinity:info\n");
    my ($victim) = pair($httpd);
    kill 'STOP', $victim;
    sleep 0.1; # it may be accepting one just now
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 20;
    is all_ok(answers(15, @waiting)), 20, 'its neighbour serves its share';
    kill 'CONT', $victim;
    ok $httpd->wait_for(sub { $httpd->log_count(qr/gives back the/) }, 10),
        'and gives it back';
    $httpd->finish;
};

subtest 'TERM and one process' => sub {
    my $httpd = server();
    my @slow = exhaust($httpd);
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 10;
    $httpd->write_file('htdocs/go', '');
    my $t = time;
    ok $httpd->stop, 'TERM with a full door';
    $httpd->start(args => ['-X']);
    is all_ok(answers(10, map { request($httpd, '/1k.txt') } 1 .. 10)), 10,
        '-X';
    $httpd->finish;
};

done_testing;
