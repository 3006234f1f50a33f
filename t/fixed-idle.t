# SPDX-License-Identifier: Apache-2.0
# Idle keep-alive connections take no room among httpd's threads, whoever gave
# the last answer: they wait at the loop, which hands them over when they ask
# again. Their counts, logs and timeouts are what they are in httpd.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Time::HiRes qw(sleep time);

my $many = 500;

sub server {
    my ($static) = @_;
    my $port = Test::Httpd::free_port();
    my $h = Test::Httpd->new(listen => "Listen $port\n",
        mpm_conf => '', conf => <<"END");
FixedProcesses 2
FixedStatic $static
KeepAliveTimeout 100
LogFormat "%U %>s %k %X" kept
CustomLog logs/kept kept
<Location /status>
    SetHandler cpuaffinity-status
</Location>
<Location /dynamic>
    SetHandler server-status
</Location>
<VirtualHost *:$port>
    ServerName localhost
</VirtualHost>
<VirtualHost *:$port>
    ServerName short
    KeepAliveTimeout 2
    MaxKeepAliveRequests 3
</VirtualHost>
END
    $h->{port} = $port;
    return $h->start;
}

sub ask {
    my ($host) = @_;
    return "GET /dynamic?auto HTTP/1.1\r\nHost: $host\r\n"
        . "Connection: keep-alive\r\n\r\n";
}

# What the answers on all connections say of their keeping.
sub answers {
    my ($host, @c) = @_;
    my %said;
    $_->send(ask($host)) for @c;
    for my $c (@c) {
        my $r = $c->answer;
        my ($keep) = $r ? $r->{head} =~ /^(?:Keep-Alive|Connection): (.*)\r$/mi
            : $c->{fate} // 'nothing';
        $said{"$r->{status} $keep"}++;
    }
    return join ', ', map {"$said{$_} x $_"} sort keys %said;
}

for my $static ('on', 'off') {
    my $h = server($static);
    my @c = map Test::Client->new($h->port), 1 .. $many;
    is answers('localhost', @c), "$many x 200 timeout=100, max=100",
        "FixedStatic $static: $many connections, an answer of httpd's each";
    my $late = 0;
    for (1 .. 10) {
        my $since = time;
        my $r = Test::Client->new($h->port)->get('/dynamic?auto',
            'Connection: close');
        $late++ if !$r || $r->{status} != 200 || time - $since > 20;
    }
    is $late, 0, 'while they are kept, new ones are answered';
    is answers('localhost', @c), "$many x 200 timeout=100, max=99",
        'they ask again, and their count goes on';
    my @short = map Test::Client->new($h->port), 1 .. 100;
    is answers('short', @short), '100 x 200 timeout=2, max=3',
        'another virtual host';
    is answers('short', @short), '100 x 200 timeout=2, max=2', 'again';
    my @last = splice @short, 0, 50;
    is answers('short', @last), '50 x 200 timeout=2, max=1', 'some the third time';
    is answers('short', @last), '50 x 200 close',
        'MaxKeepAliveRequests is its own';
    is scalar(grep { $_->end(20) eq 'end' } @short), 50,
        'and so is KeepAliveTimeout';
    is scalar(grep { $_->more(0) || $_->{fate} } @c), 0,
        'the others are kept still';
    my %line;
    $h->wait_for(sub {
        %line = ();
        $line{$_}++ for grep {m{^/dynamic}} split /\n/,
            Test::Httpd::slurp($h->root . '/logs/kept');
        ($line{"/dynamic 200 1 +"} // 0) >= $many + 100;
    }, 5);
    is_deeply \%line, {
        "/dynamic 200 0 +" => $many + 100,
        "/dynamic 200 0 -" => 10,
        "/dynamic 200 1 +" => $many + 100,
        "/dynamic 200 2 -" => 50,
        "/dynamic 200 3 -" => 50 }, '%k and %X';
    $h->finish;
}
done_testing;
