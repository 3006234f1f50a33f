# SPDX-License-Identifier: Apache-2.0
# Stopping and dying with connections waiting: a graceful restart serves
# them all, a graceful stop refuses new ones at once, a killed child takes
# only what it was serving along, a stuck one is stood in for.
use strict;
use warnings;
use IO::Select;
use Test::More;
use Test::Httpd;
use Test::Slow qw(request served_by release answers ended all_ok);
use Time::HiRes qw(sleep time);

my $threads = 3;

# mod_cgid's daemon is forked, not executed: it must not hold our sockets.
sub server {
    my ($extra, $cgi) = @_;
    return Test::Slow::server(threads => $threads, conf => $extra,
        cgi => $cgi);
}

# Makes all workers of all processes busy.
sub exhaust {
    my ($httpd) = @_;
    my @slow;
    for (1 .. 2 * $threads) {
        my $s = request($httpd, '/cgi/slow');
        served_by($s) or die 'a slow request was not served';
        push @slow, $s;
    }
    return @slow;
}

# The two children, once both serve their own sockets.
sub pair {
    my ($httpd) = @_;
    ok $httpd->seated(2, '/status'), 'two seats, each with its sockets';
    return $httpd->children;
}

sub readable { my @r = IO::Select->new(@_)->can_read(0); return scalar @r }

subtest 'graceful restart with a full door' => sub {
    my $httpd = server();
    my @slow = exhaust($httpd);
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 20;
    sleep 0.3;
    is(readable(@waiting), 0, 'nobody can serve them');
    ok $httpd->graceful, 'restart';
    is all_ok(answers(15, @waiting)), 20, 'the new generation serves all';
    is(readable(@slow), 0, 'the slow ones go on');
    release($httpd);
    is ended(answers(10, @slow)), 2 * $threads,
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
    release($httpd);
    is ended(answers(10, @slow)), 2 * $threads,
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
    release($httpd);
    is ended(answers(10, @slow)), 2 * $threads,
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
    ok $httpd->freeze($victim), 'it stands still';
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 20;
    sleep 0.3;
    my $at_once = readable(@waiting);
    # until the other has found that it does not turn, which may be now when
    # all this had to wait for a CPU
    ok $at_once < 20 || $httpd->adopted,
        'some wait for it (' . (20 - $at_once) . ')';
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
    my $before = $httpd->log_count(qr/gives back the/);
    ok $httpd->freeze($victim), 'it stands still';
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 20;
    is all_ok(answers(15, @waiting)), 20, 'its neighbour serves its share';
    kill 'CONT', $victim;
    ok $httpd->wait_for(
        sub { $httpd->log_count(qr/gives back the/) > $before }, 10),
        'and gives it back';
    $httpd->finish;
};

subtest 'TERM and one process' => sub {
    my $httpd = server();
    my @slow = exhaust($httpd);
    my @waiting = map { request($httpd, '/1k.txt') } 1 .. 10;
    release($httpd);
    my $t = time;
    ok $httpd->stop, 'TERM with a full door';
    $httpd->start(args => ['-X']);
    is all_ok(answers(10, map { request($httpd, '/1k.txt') } 1 .. 10)), 10,
        '-X';
    $httpd->finish;
};

done_testing;
