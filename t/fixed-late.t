# A process that stood still, or got a connection late: a request that came
# before anybody looked is answered, though the timer of its connection has
# run out meanwhile. A client that really is too slow gains nothing by it.
use strict;
use warnings;
use lib 't/lib';
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep time);

my $port = Test::Httpd::free_port();
my $h = Test::Static::server(listen => "Listen $port\n",
    modules => ['reqtimeout'], mpm_conf => "ThreadsPerChild 16\n",
    conf => <<'END');
KeepAliveTimeout 2
RequestReadTimeout header=2
END
$h->{port} = $port;
$h->start;
ok Test::Client::learn($h, '/1k.txt'), 'a file is known';

# So many connections idle at the loop, each with an answer.
sub idle {
    my ($n) = @_;
    my @c = map Test::Client->new($port), 1 .. $n;
    my $good = grep { ($_->get('/1k.txt') || {})->{status} } @c;
    is $good, $n, "$n connections are kept";
    return @c;
}

# How many of them get an answer, and what became of the others.
sub answered {
    my %fate;
    for my $c (@_) {
        my $r = $c->answer;
        $fate{ $r && $r->{status} == 200 ? 'answered' : $c->{fate} // '?' }++;
    }
    return join ' ', map {"$fate{$_} $_"} sort keys %fate;
}

my $ask = Test::Client::request('/1k.txt');

# More than the loop fetches at once.
my @c = idle(400);
my @child = $h->children;
ok $h->freeze(@child), 'their process stands still';
$_->send($ask) for @c;
sleep 3.2;
kill 'CONT', @child;
is answered(@c), '400 answered', 'and answers all of them later';

@c = idle(40);
my $since = time;
@child = $h->children;
ok $h->freeze(@child), 'it stands still at a restart';
ok $h->graceful, 'which begins';
$_->send($ask) for @c;
sleep 0.1 while time < $since + 3.4;
kill 'CONT', @child;
is answered(@c), '40 answered', 'the next generation gets them late';

# Those that have asked nothing are closed, late or not.
@c = idle(4);
my @parts = map Test::Client->new($port), 1 .. 4;
$_->send('GET /1k.txt HTT') for @parts;
sleep 0.3;
@child = $h->children;
ok $h->freeze(@child), 'it stands still again';
sleep 3;
$_->send("P/1.1\r\n") for @parts;
kill 'CONT', @child;
is join(' ', map { $_->end(10) } @c), 'end end end end',
    'idle connections end';
is join(' ', map { ($_->answer || {})->{status} // $_->{fate} } @parts),
    '408 408 408 408', 'more of a request that is too late does not help';
$h->finish;
done_testing;
