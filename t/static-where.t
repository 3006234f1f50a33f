# SPDX-License-Identifier: Apache-2.0
# What is answered depends on where a connection comes in: virtual hosts of
# the same name on two ports, on two addresses, for IPv4 and IPv6, behind
# wildcard, mapped and specific listening sockets. One is learned, then the
# others are asked: each answer and each line of the log is stock httpd's.
use strict;
use warnings;
use IO::Socket::IP;
use Test::Client;
use Test::Httpd;
use Test::More;
use Time::HiRes qw(sleep);

my $has_v6 = IO::Socket::IP->new(LocalHost => '::1', Listen => 1);
my %names = (one => '127.0.0.1', two => '127.0.0.2', six => '::1');

# A server of a kind of listening, with two ports.
sub server {
    my ($listen, $fixed) = @_;
    my $h = Test::Httpd->new(module => $fixed, modules => ['logio'],
        mpm_conf => '');
    my %port = (p => $h->port, q => Test::Httpd::free_port());
    $h->{listen} = join '', map { s/P/$port{p}/r =~ s/Q/$port{q}/r . "\n" }
        @$listen;
    my $hosts = '';
    for my $where ('*:p', '*:q', '127.0.0.2:p', $has_v6 ? '[::1]:p' : ()) {
        my $dir = $where =~ tr/a-z0-9/_/cr;
        mkdir $h->root . "/htdocs/$dir";
        my $path = $h->write_file("htdocs/$dir/a.html", "I am $where\n");
        utime 1_700_000_000, 1_700_000_000, $path;
        (my $address = $where) =~ s/:([pq])$/:$port{$1}/;
        $hosts .= "<VirtualHost $address>\nServerName same.test\n"
            . "DocumentRoot \@ROOT\@/htdocs/$dir\n</VirtualHost>\n";
    }
    my $conf = $fixed ? "FixedProcesses 1\nFixedStatic on\n" : '';
    $h->{mpm_conf} = $fixed ? "ThreadsPerChild 4\n" : undef;
    $h->write_conf($conf . <<"END");
<Directory />
    AllowOverride None
</Directory>
<Location /status>
    SetHandler cpuaffinity-status
</Location>
LogFormat "%A %{local}p %p %a \\"%r\\" %>s %B" where
CustomLog logs/where where
$hosts
END
    $h->start;
    return ($h, \%port);
}

sub ask {
    my ($host, $port) = @_;
    my $s = IO::Socket::IP->new(PeerHost => $host, PeerPort => $port,
        Timeout => 5) or return "no connection: $@";
    print {$s} "GET /a.html HTTP/1.1\r\nHost: same.test\r\n"
        . "Connection: close\r\n\r\n";
    my $text = do { local $/; <$s> } // '';
    $text =~ s/^Date: .*\r\n//m;
    return $text;
}

# Everywhere, in turn, until each is answered by the loop.
sub everywhere {
    my ($port, @hosts) = @_;
    my %got;
    for my $round (1 .. 5) {
        for my $host (@hosts) {
            for my $p ('p', 'q') {
                my $text = ask($names{$host}, $port->{$p});
                $got{"$host $p"}{$text}++;
            }
        }
        sleep 0.1;
    }
    return { map { ($_ => join "\n--\n", sort keys %{ $got{$_} }) }
            sort keys %got };
}

sub lines {
    my ($h, $port, $n) = @_;
    my @lines;
    $h->wait_for(sub {
        @lines = split /\n/, Test::Httpd::slurp($h->root . '/logs/where');
        return @lines >= $n;
    });
    s/\b$port->{p}\b/P/g, s/\b$port->{q}\b/Q/g for @lines;
    return [ sort @lines ];
}

sub compare {
    my ($name, $listen, @hosts) = @_;
    my ($stock, $stock_port) = server($listen, 0);
    my ($fixed, $port) = server($listen, 1);
    my $want = everywhere($stock_port, @hosts);
    is_deeply everywhere($port, @hosts), $want, "$name: stock's answers";
    is_deeply lines($fixed, $port, 10 * @hosts),
        lines($stock, $stock_port, 10 * @hosts), "$name: stock's log lines";
    cmp_ok $fixed->counter('loop_hits'), '>=', 4 * @hosts,
        "$name: the loop has answered";
    $_->finish for $stock, $fixed;
    return;
}

compare('Listen PORT', [ 'Listen P', 'Listen Q' ], 'one', 'two',
    $has_v6 ? 'six' : ());
compare('Listen 0.0.0.0:PORT', [ 'Listen 0.0.0.0:P', 'Listen 0.0.0.0:Q' ],
    'one', 'two');
compare('specific addresses',
    [ map { ("Listen 127.0.0.$_:P", "Listen 127.0.0.$_:Q") } 1, 2 ],
    'one', 'two');
SKIP: {
    skip 'no IPv6 here', 6 unless $has_v6;
    compare('one family each', [ 'Listen 0.0.0.0:P', 'Listen [::1]:P',
        'Listen 127.0.0.1:Q', 'Listen [::1]:Q' ], 'one', 'six');
    compare('a mapped address',
        [ 'Listen [::ffff:127.0.0.1]:P', 'Listen [::ffff:127.0.0.1]:Q' ],
        'one');
}
done_testing;
