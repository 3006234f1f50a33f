# SPDX-License-Identifier: Apache-2.0
# A hit allocates nothing: calls of malloc and its kind on the loop's thread
# are counted by a library in front of the C library's.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep);

plan skip_all => 'a sanitizer is in front of the C library itself'
    if $ENV{SANITIZER};

my @kinds = qw(malloc calloc realloc aligned free mmap munmap);
my ($h, $counters);

sub start {
    my ($conf) = @_;
    $h = Test::Static::server(conf => <<"END");
FixedStaticMemory 64K 16M
FixedStaticCache 1000 60s
FixedSteering off
CPUAffinityWatch off
MaxKeepAliveRequests 0
KeepAliveTimeout 60
$conf
END
    $counters = $h->write_file('run/allocs', "\0" x 4096);
    $h->{env} = { ALLOCS => $counters,
        LD_PRELOAD => Test::Httpd::build_dir() . '/preload/allocs.so' };
    Test::Static::old_file($h, 'large.bin', 'l' x 200_000);
    $h->start;
}

sub counts {
    my %n;
    @n{@kinds} = unpack 'Q*', substr Test::Httpd::slurp($counters), 0,
        8 * @kinds;
    return %n;
}

# Calls while the sub runs: name => count, of those that were called.
sub calls {
    my ($sub) = @_;
    my %before = counts();
    $sub->();
    sleep 0.05; # what is done once the last answer has left
    my %n = counts();
    $n{$_} -= $before{$_} for @kinds;
    return { map { $n{$_} ? ($_ => $n{$_}) : () } @kinds };
}

# Batches of requests, of those only that were hits all: one in a thousand is
# an audit and httpd's. @return what each of these has called
sub batches {
    my ($batches, $each, $ask) = @_;
    my @calls;
    my $hits = $h->counter('loop_hits');
    for (1 .. $batches) {
        sleep 0.05; # the connection of the counter is not in the loop any more
        my $calls = calls(sub { $ask->() for 1 .. $each });
        my $now = $h->counter('loop_hits');
        push @calls, $calls if $now - $hits == $each;
        $hits = $now;
    }
    return @calls;
}

start('');
ok $h->learn("/$_"), "$_ is known" for qw(1k.txt large.bin);
my %all = counts();
cmp_ok $all{malloc}, '>', 0, 'learning does allocate, and it is seen';
my @c = map Test::Client->new($h->port), 1 .. 10;
my $next = 0;

sub on_next { return $c[ $next++ % @c ] }

my ($etag) = on_next()->get('/1k.txt')->{head} =~ /^ETag: (.*?)\r$/m;
my %way = (
    'from memory' => sub { on_next()->get('/1k.txt') },
    'by sendfile' => sub { on_next()->get('/large.bin') },
    'a part' => sub { on_next()->get('/large.bin', 'Range: bytes=5-99') },
    'not modified' => sub { on_next()->get('/1k.txt',
        "If-None-Match: $etag") },
    'a connection for each' => sub {
        my $c = Test::Client->new($h->port);
        $c->get('/1k.txt', 'Connection: close');
        $c->end;
    });
for my $name (sort keys %way) {
    $way{$name}->() for 1 .. @c;
    my @calls = batches(6, 50, $way{$name});
    cmp_ok scalar @calls, '>=', 3, @calls . " batches of hits, $name";
    is_deeply [ grep { %$_ } @calls ], [], 'they allocate nothing'
        or diag explain \@calls;
}

# A request that comes in two parts: the first is kept meanwhile.
my @cut = batches(6, 50, sub {
    my ($c, $r) = (on_next(), Test::Client::request('/1k.txt'));
    $c->send(substr $r, 0, 20);
    sleep 0.002;
    $c->send(substr $r, 20);
    $c->answer;
});
cmp_ok scalar @cut, '>=', 3, @cut . ' batches of hits, in two parts';
is_deeply [ grep { join(' ', sort keys %$_) ne 'free malloc'
        || $_->{malloc} > 50 || $_->{free} > 50 } @cut ], [],
    'one piece of memory each, given back' or diag explain \@cut;
$h->finish;

start(<<'END');
LogFormat "%h %l %u %t \"%r\" %>s %b" common
CustomLog logs/access_log common
END
ok $h->learn("/1k.txt"), 'known, with an access log';
@c = map Test::Client->new($h->port), 1 .. 10;
$way{'from memory'}->() for @c;
my @calls = batches(6, 50, $way{'from memory'});
cmp_ok scalar @calls, '>=', 3, @calls . ' batches of hits';
# which the logger's thread frees
is_deeply [ grep { join(' ', %$_) ne 'malloc 50' } @calls ], [],
    'a line of the log is one piece of memory each' or diag explain \@calls;
$h->finish;
done_testing;
