# SPDX-License-Identifier: Apache-2.0
# A connection that httpd had for one request (to learn its answer, to compare
# it in an audit, for something dynamic before it) is the loop's again as soon
# as that is possible, whatever pace the client has.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

my $h = Test::Static::server(conf => <<'END');
FixedStaticMemory 64K 16M
FixedStaticCache 1000 60s
MaxKeepAliveRequests 0
KeepAliveTimeout 60
END
my $large = join '', map chr($_ * 11 % 256), 1 .. 200_000;
Test::Static::old_file($h, 'large.bin', $large);
$h->start;

sub hits { return $h->counter('loop_hits') }

# The first of their connection: some are learned from, the rest known, and
# afterwards none is httpd's, without a further request.
my @first = map Test::Client->new($h->port), 1 .. 40;
for my $c (@first) {
    $c->get('/1k.txt');
    select undef, undef, undef, 0.01;
}
# The second answer makes it known, maybe after its connection was looked at.
ok $h->wait_for(sub { $h->counter('connections') >= 38 }, 5),
    'connections idle at the loop after their first answer'
    or diag $h->counter('connections');
$_->close for @first;

ok $h->learn("/$_"), "$_ is known" for '1k.txt', 'large.bin';

# Three audits at least; each costs its own request and maybe the next.
for my $file ('1k.txt', 'large.bin') {
    my ($n, $good, $before) = (3000, 0, hits());
    my $c = Test::Client->new($h->port);
    for (1 .. $n) {
        my $r = $c->get("/$file") or last;
        $good++ if $r->{status} == 200 && $file ne 'large.bin'
            || $r->{body} eq $large;
    }
    is $good, $n, "$n answers without a pause, $file";
    my $by = hits() - $before;
    cmp_ok $by, '>=', $n - 30, "$by of them by the loop";
}

# Behind what httpd has to answer, in one piece: its filter holds the rest,
# so httpd answers that too.
my $good = 0;
for (1 .. 20) {
    my $c = Test::Client->new($h->port);
    $c->send(Test::Client::request('/none')
        . Test::Client::request('/1k.txt') x 8);
    $good++ if $c->answer->{status} == 404;
    for (1 .. 8) {
        my $r = $c->answer or last;
        $good++ if $r->{status} == 200 && length $r->{body} == 1024;
    }
}
is $good, 180, 'pipelined behind a 404: all answers';

# A client that has sent all it has and shut its side down.
my $c = Test::Client->new($h->port);
$c->send(Test::Client::request('/none') . Test::Client::request('/1k.txt'));
$c->shut;
is $c->answer->{status}, 404, 'half-closed: the first answer';
is $c->answer->{status}, 200, 'half-closed: the second';
is $c->end(5), 'end', 'and the end';
$h->finish;
done_testing;
