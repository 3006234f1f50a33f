# SPDX-License-Identifier: Apache-2.0
# A graceful restart that takes LoadModule away, and one that adds it: what was
# accepted is answered, by the processes that accepted it, and kept connections
# have one more answer.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::Listen qw(hammer);
use Test::More;
use Test::Slow qw(request served_by release answers ended all_ok);
use Time::HiRes qw(sleep);

my $threads = 3;

sub server {
    my ($conf) = @_;
    return Test::Slow::server(threads => $threads, conf => $conf
        . "LogFormat \"%>s %B %r\" all\n"
        . "CustomLog logs/access all\n");
}

# The next configuration: as httpd is without the module.
sub without {
    my ($h) = @_;
    $h->{module} = 0;
    my $conf = $h->{conf} =~ s/^Fixed.*\n//mgr
        =~ s{<Location /status>.*?</Location>\n}{}sr;
    return $h->write_conf($conf);
}

sub access {
    my ($h) = @_;
    open my $f, '<', $h->root . '/logs/access' or return '';
    local $/;
    return <$f> // '';
}

sub are_gone {
    my ($h, @old) = @_;
    return $h->wait_for(sub {
        my %now = map { $_ => 1 } $h->children;
        !grep { $now{$_} } @old;
    }, 20);
}

# Asks until an answer says that it is the last: a process may not have heard
# yet that it ends. @return true when each request had one
sub last_answer {
    my ($c) = @_;
    for (1 .. 90) {
        my $r = $c->get('/1k.txt');
        return 0 unless $r && $r->{status} == 200;
        return 1 if $r->{head} =~ /^Connection: close/mi;
        sleep 0.1;
    }
    return 0;
}

subtest 'connections that wait for a thread' => sub {
    my $h = server('');
    my @old = $h->children;
    my @slow = map { request($h, '/cgi/slow') } 1 .. 2 * $threads;
    is scalar(grep { served_by($_) } @slow), 2 * $threads,
        'all threads are busy';
    my @waiting = map { request($h, '/1k.txt') } 1 .. 20;
    sleep 0.3;
    without($h);
    ok $h->graceful, 'restart';
    is all_ok(answers(15, @waiting)), 20, 'all of them are served';
    is all_ok(answers(15, map { request($h, '/1k.txt') } 1 .. 5)), 5,
        'new ones, too';
    release($h);
    is ended(answers(10, @slow)), 2 * $threads, 'what was begun is finished';
    ok are_gone($h, @old), 'the old processes end';
    my $n = () = access($h) =~ m{^200 1024 GET /1k\.txt}mg;
    is $n, 25, 'the log has each of them';
    $h->finish;
};

# Between two requests, at the loop and at httpd.
for my $static (qw(on off)) {
    subtest "kept connections, FixedStatic $static" => sub {
        my $h = server("KeepAliveTimeout 20\nFixedStatic $static\n"
            . "<Directory />\nAllowOverride None\n</Directory>\n");
        ok $static eq 'off' || $h->learn('/1k.txt'), 'learned';
        my @old = $h->children;
        my @kept = map { Test::Client->new($h->port) } 1 .. 19;
        is scalar(grep { ($_->get('/1k.txt') // {})->{status} } @kept), 19,
            'they have had an answer';
        my $begun = Test::Client->new($h->port);
        my $half = 'GET /1k.txt HTTP/1.1';
        $begun->send($half);
        ok $h->freeze(@old), 'the processes stand still';
        my @asks = @kept[0 .. 9];
        $_->send(Test::Client::request('/1k.txt')) for @asks;
        without($h);
        ok $h->graceful, 'restart';
        kill 'CONT', @old;
        my @a = map { $_->answer // {} } @asks;
        is scalar(grep { ($_->{status} // 0) == 200 } @a), 10,
            'requests that had come are answered';
        $begun->send("\r\nHost: localhost\r\n\r\n");
        is +($begun->answer // {})->{status}, 200, 'half a request, too';
        is scalar(grep { last_answer($_) } @kept[10 .. 18]), 9,
            'and those that come later, until one is the last';
        $_->close for @kept, $begun;
        ok are_gone($h, @old), 'the old processes end';
        $h->finish;
    };
}

subtest 'silent connections' => sub {
    my $h = server("KeepAliveTimeout 2\n");
    my @old = $h->children;
    my @kept = map { Test::Client->new($h->port) } 1 .. 4;
    $_->get('/1k.txt') for @kept;
    without($h);
    ok $h->graceful, 'restart';
    is join(' ', map { $_->end } @kept), 'end end end end',
        'end when their time is over';
    ok are_gone($h, @old), 'and with them the old processes';
    $h->finish;
};

subtest 'under load, there and back' => sub {
    my $h = Test::Httpd->new(module => 0, mpm_conf => "ThreadsPerChild 16\n"
        . "StartServers 2\nMaxRequestWorkers 32\nServerLimit 16\n"
        . "MinSpareThreads 1\nMaxSpareThreads 32\n");
    $h->start;
    my $stop = hammer($h->port, path => '/1k.txt', clients => 3);
    sleep 0.3;
    for my $with (1, 0) {
        $h->{module} = $with;
        $h->write_conf($with ? "FixedProcesses 2\n" : '');
        ok $h->graceful, $with ? 'with the module' : 'without';
        $h->with_threads;
        sleep 0.5;
    }
    my ($good, $bad) = $stop->();
    cmp_ok $good, '>', 20, "$good answers";
    is_deeply $bad, [], 'nothing is lost';
    $h->finish;
};
done_testing;
