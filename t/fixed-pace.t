# SPDX-License-Identifier: Apache-2.0
# More busy connections than httpd has threads, while nothing is learned yet:
# after a graceful restart all of them are for the few threads of the new
# processes. Those that cannot be served at once wait; none is lost, neither
# for want of a thread nor because it idles with a thread wanted elsewhere.
use strict;
use warnings;
use IO::Select;
use POSIX ();
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep time);

my $restarts = $ENV{RESTARTS} || 5;
my $port = Test::Httpd::free_port();
my $h = Test::Static::server(listen => "Listen $port\n", seats => 2,
    mpm_conf => "ThreadsPerChild 3\n", conf => <<'END');
MaxKeepAliveRequests 0
KeepAliveTimeout 30
<Location /dynamic>
    SetHandler server-status
</Location>
END
$h->{port} = $port;
Test::Static::old_file($h, "$_.txt", "$_\n" x 200) for 1 .. 100;
Test::Static::old_file($h, 'large.bin', 'x' x 300_000);
$h->start;

# One client with many connections, each with a request on its way or, every
# third time, idle for a moment. Every answer may end its connection if it
# says so. Prints "answers lost" at the end.
sub client {
    my ($out, $kind, $n) = @_;
    my $end_file = $h->root . '/run/end';
    my ($good, $lost, %due, %open, $i) = (0, 0);
    my $ask = sub {
        my ($c) = @_;
        my $path = $kind eq 'static' ? '/' . (1 + $i++ % 100) . '.txt'
            : $i++ % 5 ? '/dynamic?auto' : '/large.bin';
        $c->send(Test::Client::request($path));
    };
    my $begin = sub {
        my $c = Test::Client->new($port);
        $open{ fileno $c->{s} } = $c;
        $ask->($c);
    };
    $begin->() for 1 .. $n;
    while (!-e $end_file) {
        for my $fd (keys %due) {
            next if $due{$fd} > time;
            delete $due{$fd};
            $ask->($open{$fd});
        }
        for my $s (IO::Select->new(map $_->{s}, values %open)->can_read(.01)) {
            my $fd = fileno $s;
            my $c = $open{$fd};
            # an idle one that ends is lost too: nothing had said so
            my $r = exists $due{$fd} ? undef : $c->answer;
            $r ? $good++ : $lost++;
            if (!$r || $r->{head} =~ /^Connection: close/mi) {
                delete $open{$fd};
                delete $due{$fd};
                $c->close;
                $begin->();
            }
            elsif (rand() < .3) { $due{$fd} = time + rand .3 }
            else { $ask->($c) }
        }
    }
    print {$out} "$good $lost\n";
}

my @running;
for my $kind ('static', 'dynamic') {
    pipe my $r, my $w or die $!;
    my $pid = fork // die $!;
    if (!$pid) {
        alarm 120;
        client($w, $kind, 24);
        close $w;
        POSIX::_exit(0);
    }
    close $w;
    push @running, [ $kind, $r, $pid ];
}
sleep 1;
my $done = 0;
for (1 .. $restarts) {
    $done++ if $h->graceful;
    sleep .7;
}
is $done, $restarts, "$restarts graceful restarts";
sleep 1;
$h->write_file('run/end', '');
for (@running) {
    my ($kind, $r, $pid) = @$_;
    my ($good, $lost) = split ' ', readline($r) // '0 1';
    waitpid $pid, 0;
    cmp_ok $good, '>', 50, "$kind: $good answers";
    is $lost, 0, "$kind: none lost";
}
$h->finish;
done_testing;
