# SPDX-License-Identifier: Apache-2.0
# Clients that are silent or slow, on the first request of a connection and on
# later ones: what they get and what is logged is what stock httpd gives and
# logs, with and without RequestReadTimeout.
use strict;
use warnings;
use Test::Client;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep time);

my $slow = Test::Httpd::slow();
my $partial = "GET /1k.txt HTTP/1.1\r\nHost: loc";
my %cases = (
    'silent' => [ 0 ],
    'part of a line' => [ 0, 'GE' ],
    'part of a head' => [ 0, $partial ],
    'a blank line' => [ 0, "\r\n" ],
    'silent, then closed' => [ 0, undef ],
    'silent after an answer' => [ 1 ],
    'part of a line after an answer' => [ 1, 'GE' ],
    'closed after an answer' => [ 1, undef ],
);

sub lines {
    my ($h) = @_;
    open my $f, '<', $h->root . '/logs/access' or return;
    chomp(my @lines = <$f>);
    return @lines;
}

# All clients of a server at a time. @return name => what became of it
sub fates {
    my ($t, $h) = @_;
    my (%client, %fate);
    for my $name (sort keys %cases) {
        my ($before, @bytes) = @{ $cases{$name} };
        my $c = $client{$name} = Test::Client->new($h->port);
        $c->get('/1k.txt') if $before;
        next unless @bytes;
        defined $bytes[0] ? $c->send($bytes[0]) : $c->shut;
    }
    for my $name (sort keys %cases) {
        # far less than what does not count here (Timeout, or for ever)
        my $end = $client{$name}->end(12 * $slow);
        my ($status) = $client{$name}{in} =~ m{\AHTTP/1\.1 (\d+)};
        $fate{$name} = ($end || 'open') . ' ' . ($status // 'nothing');
    }
    return \%fate;
}

for my $how ([ 'RequestReadTimeout', ['reqtimeout'],
        "Timeout 60\nRequestReadTimeout header=1\n" ],
    [ 'a minimum rate', ['reqtimeout'],
        "Timeout 60\nRequestReadTimeout header=1-2,MinRate=500\n" ],
    [ 'Timeout', [], "Timeout 2\n" ]) {
    my ($name, $modules, $conf) = @$how;
    # a silent connection is to be accepted at once
    my $t = Test::Twin->new(modules => [ 'logio', @$modules ], conf => $conf
        . <<'END');
AcceptFilter http none
KeepAliveTimeout 2
LogFormat "%>s \"%r\" %X %O %B" c
CustomLog @ROOT@/logs/access c
END
    $t->start;
    ok $t->learned($t->request('/1k.txt')), "$name: the loop answers";
    my %was = map { $_ => scalar lines($_) } $t->both;
    my ($stock, $fixed) = map fates($t, $_), $t->both;
    is_deeply $fixed, $stock, "$name: the fates are stock's"
        or diag explain $fixed, $stock;
    my @log;
    for my $h ($t->both) {
        my $want = $h == $t->stock ? 7 : scalar @{ $log[0] };
        $h->wait_for(sub { lines($h) - $was{$h} >= $want }, 5);
        my @lines = lines($h);
        push @log, [ sort grep !/cpuaffinity/, @lines[ $was{$h} .. $#lines ] ];
    }
    is_deeply $log[1], $log[0], "$name: and so is the log"
        or diag explain \@log;
    cmp_ok scalar(grep /^408 "-"/, @{ $log[0] }), '>', 1, '... with 408';
    $t->finish;
}
done_testing;
