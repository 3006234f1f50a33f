# SPDX-License-Identifier: Apache-2.0
# Loops are killed while clients ask: lost are the connections that the killed
# process had, and no other; what waits in its queue is served; a new process
# takes its seat and learns again.
use strict;
use warnings;
use POSIX ();
use Socket qw(unpack_sockaddr_in);
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep time);

my $seats = 3;
my $h = Test::Static::server(seats => $seats, conf => <<'END');
FixedSteering off
MaxKeepAliveRequests 0
KeepAliveTimeout 60
END
$h->start;
ok seated(), "$seats loops";
ok $h->learn('/1k.txt'), 'a file is known';

# Has each seat a process, and none of these?
sub seated {
    my %not = map { $_ => 1 } @_;
    return $h->wait_for(sub {
        my %pid = map { $_->{pid} => 1 }
            grep { $_->{pid} && !$not{ $_->{pid} } }
            @{ $h->json('/status?json')->{seats} };
        keys %pid == $seats;
    }, 20);
}

# Which process has the server's end: {client's port => pid}.
sub owners {
    my (%port, %owner);
    for (split /\n/, Test::Httpd::slurp('/proc/net/tcp')) {
        my (undef, $local, $remote, @rest) = split ' ';
        my ($lp, $rp) = map { /:(\w+)$/ ? hex $1 : 0 } $local, $remote;
        $port{ $rest[6] } = $rp if $lp == $h->port && $rest[6];
    }
    for my $pid ($h->children) {
        for (glob "/proc/$pid/fd/*") {
            my ($inode) = (readlink($_) // '') =~ /^socket:\[(\d+)\]/ or next;
            $owner{ $port{$inode} } = $pid if $port{$inode};
        }
    }
    return %owner;
}

sub port_of {
    my ($c) = @_;
    return (unpack_sockaddr_in(getsockname $c->{s}))[0];
}

# Clients with a connection for each request. @return a sub that ends them,
# and gives the answers and the connections without one
sub clients {
    my ($n) = @_;
    my $end = $h->root . '/run/end';
    my @pipes;
    for (1 .. $n) {
        my $pid = open my $out, '-|';
        defined $pid or die "fork: $!";
        if (!$pid) {
            my ($good, $bad) = (0, 0);
            until (-e $end) {
                my $c = Test::Client->new($h->port);
                my $r = $c->get('/1k.txt', 'Connection: close');
                $r && length $r->{body} == 1024 ? $good++ : $bad++;
                $c->close;
                sleep 0.002;
            }
            syswrite STDOUT, "$good $bad\n";
            POSIX::_exit(0);
        }
        push @pipes, $out;
    }
    return sub {
        $h->write_file('run/end', '');
        my ($good, $bad) = (0, 0);
        for my $out (@pipes) {
            my ($g, $b) = split ' ', scalar(<$out>) // '0 1000';
            $good += $g;
            $bad += $b;
            close $out;
        }
        return ($good, $bad);
    };
}

my $clients = 4;
my $kills = 3;
my $stop = clients($clients);
for my $kill (1 .. $kills) {
    my @c = map Test::Client->new($h->port), 1 .. 60;
    is scalar(grep { $_->get('/1k.txt') } @c), 60, "kill $kill: 60 clients";
    # one that is sent to another process belongs to none for a moment
    my %owner;
    ok $h->wait_for(sub {
        %owner = owners();
        return !grep { !$owner{ port_of($_) } } @c;
    }), 'each has its process' or last;
    my %of;
    push @{ $of{ $owner{ port_of($_) } } }, $_ for @c;
    my ($victim) = sort { @{ $of{$b} } <=> @{ $of{$a} } } keys %of;
    my $had = delete $of{$victim};
    my @others = map { @$_ } values %of;
    cmp_ok @$had * @others, '>', 0,
        @$had . ' of the one that is killed, ' . @others . ' of others';
    kill 'KILL', $victim;
    is scalar(grep { !$_->get('/1k.txt') } @$had), @$had,
        'it has taken its own along';
    is scalar(grep { ($_->get('/1k.txt') // {})->{status} } @others),
        @others, 'the others are answered as before';
    ok seated($victim), 'its seat has a new process';
    ok $h->learn('/1k.txt'), 'which learns again';
}
my ($good, $bad) = $stop->();
cmp_ok $good, '>', 100, "$good answers on connections of their own";
cmp_ok $bad, '<=', $kills * $clients,
    "$bad lost: each client had one open at each kill, at most";

# What waits at the process when it is killed has not been accepted yet.
{
    my ($victim) = $h->children;
    ok $h->freeze($victim), 'it stands still';
    my @c = map Test::Client->new($h->port), 1 .. 40;
    $_->send(Test::Client::request('/1k.txt')) for @c;
    sleep 0.2;
    my $waiting = grep { !$_->more(0) } @c;
    kill 'KILL', $victim;
    is scalar(grep { ($_->answer // {})->{status} } @c), 40,
        "$waiting of 40 wait for one that is killed: all are answered";
    ok seated($victim), 'its seat has a new process';
}
$h->finish;
done_testing;
