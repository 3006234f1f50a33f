# SPDX-License-Identifier: Apache-2.0
# All of httpd's threads are busy with slow dynamic requests, and more of
# these wait: the loop's answers come all the same, and in the end everybody
# has had his.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Slow qw(request served_by release answers ended);
use Test::Static;

my $threads = 4;
my $h = Test::Static::server(mpm_conf => "ThreadsPerChild $threads\n",
    modules => ['cgi'], conf => <<"END");
FixedStaticCache 1000 60s
MaxKeepAliveRequests 0
KeepAliveTimeout 60
$Test::Slow::conf
END
Test::Slow::script($h);
$h->start;
ok $h->learn('/1k.txt'), 'a file is known';

my @slow = map request($h, '/cgi/slow'), 1 .. $threads;
is scalar(grep { served_by($_) } @slow), $threads, 'all threads are busy';
push @slow, map request($h, '/cgi/slow'), 1 .. 20 - $threads;

# 2000 answers on twenty connections, of which now and then one is new.
my @c = map Test::Client->new($h->port), 1 .. 20;
$Test::Client::limit = 2;
my $good = 0;
for my $i (1 .. 2000) {
    my $c = \$c[ $i % @c ];
    my $r = $$c->get('/1k.txt');
    $good++ if $r && length $r->{body} == 1024;
    $$c = Test::Client->new($h->port) if !$r || $i % 50 == 0;
}
# Audits (one in a thousand) would be httpd's; there are none meanwhile.
is $good, 2000, '2000 static answers meanwhile';
release($h);
is ended(answers(20, @slow)), 20, 'then all twenty slow ones are answered';
is $h->get('/none')->{status}, 404, 'and the next';
$h->finish;
done_testing;
