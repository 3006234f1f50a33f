# SPDX-License-Identifier: Apache-2.0
# A child that cannot have its loop (eventfd, epoll or a thread is denied)
# serves the sockets of its seat as plain mpm_event, or ends with a message and
# is replaced: every request is answered, in some processes without a loop or
# in all. Without memfd the memory is shared as ever.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

plan skip_all => 'a sanitizer is preloaded, and so would be what denies'
    if $ENV{PRELOAD};

my $seats = 3;

# Starts a server on all addresses in which calls are denied.
sub server {
    my ($what, $call, $children) = @_;
    my $port = Test::Httpd::free_port();
    my $h = Test::Static::server(seats => $seats, listen => "Listen $port\n",
        conf => "FixedSteering off\nCPUAffinity off\n",
        allow_log => qr/has no loop and ends/);
    $h->{port} = $port;
    $h->{env} = {
        DENY => $what, DENY_CALL => $call, DENY_FIRST => $children,
        LD_PRELOAD => Test::Httpd::build_dir() . '/preload/deny.so'
    };
    $h->start(wait => 'pid');
    return $h;
}

# So many connections at once, which reach the sockets of all seats. @return
# how many were answered
sub answers {
    my ($h, $n) = @_;
    my @c = map Test::Client->new($h->port), 1 .. $n;
    $_->send(Test::Client::request('/1k.txt')) for @c;
    my @r = grep defined, map $_->answer, @c;
    return scalar grep { $_->{status} == 200 && length $_->{body} == 1024 } @r;
}

my $plain = qr/has no loop: it serves the sockets of seat (\d)/;
my $again = qr/epoll_ctl on the listening socket .* is tried again/;
my $ends = qr/has no loop and ends: its thread could not be started/;

for my $case (
    # what is denied, in which call, in how many children, what is logged
    [ 'eventfd', 1, 1, $plain, 'the loop\'s eventfd, in one child' ],
    [ 'eventfd', 1, 99, $plain, 'in all children' ],
    [ 'eventfd', 2, 2, $plain, 'the door\'s eventfd, in two children' ],
    [ 'eventfd', 2, 99, $plain, 'in all children' ],
    [ 'epoll_create1', 1, 1, $plain, 'epoll, in one child' ],
    [ 'epoll_create1', 1, 99, $plain, 'in all children' ],
    [ 'epoll_ctl', 1, 99, $again, 'a listening socket, in all children' ],
    [ 'pthread_create', 1, 1, $ends, 'the loop\'s thread, in one child' ],
    [ 'pthread_create', 1, 2, $ends, 'in two children' ],
    )
{
    my ($what, $call, $children, $message, $name) = @$case;
    my $h = server($what, $call, $children);
    my $want = $children < $seats ? $children : $seats;
    is answers($h, 50), 50, "$name: 50 requests are answered";
    ok $h->wait_for(sub { $h->log_count($message) >= $want }, 20),
        "$want say why";
    if ($message == $plain && $children >= $seats) {
        my %seat = map { $_ => 1 } $h->log =~ /$plain/g;
        is keys %seat, $seats, 'each seat is served';
    }
    ok $h->graceful, 'a graceful restart';
    is answers($h, 50), 50, '50 requests are answered afterwards';
    is $h->get('/status?json')->{status}, 200, 'the status is shown';
    $h->finish;
}

# No child can have its thread: httpd ends, as it is wont to when none of its
# children can have theirs, and nobody waits.
{
    my $h = server('pthread_create', 1, 99);
    is answers($h, 50), 0, 'no thread in any child: nothing is answered';
    ok $h->wait_for(sub {
        waitpid($h->parent, POSIX::WNOHANG()) == $h->parent;
    }, 20), 'httpd ends';
    like $h->log, $ends, 'with a message';
    delete $h->{pid};
    $h->{allow_log} = qr/has no loop and ends|AH02324/;
    $h->finish;
}

# memfd: call by call, and the seats' in any case.
for my $call (1 .. 4) {
    my $h = server('memfd_create', $call, 0);
    is answers($h, 50), 50, "memfd $call denied: 50 requests are answered";
    is $h->log_count($plain), 0, 'by loops';
    ok $h->learn('/1k.txt'), 'which learn';
    $h->finish;
}
done_testing;
