# SPDX-License-Identifier: Apache-2.0
# Clients that are faster than httpd: the next request is there before httpd
# looks for one. Their connections go to the loop all the same, and nothing
# that was sent together is lost or answered out of order.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

plan skip_all => 'a sanitizer is preloaded, and so would be the pause'
    if $ENV{SANITIZER};

# A server that pauses, with old files, each of which says its name.
sub server {
    my ($files, %o) = @_;
    my $h = Test::Static::server(%o);
    Test::Static::old_file($h, $_, "This is $_\n") for @$files;
    $h->{env} = { PAUSE => 30,
        LD_PRELOAD => Test::Httpd::build_dir() . '/preload/pause.so' };
    return $h->start;
}

my @files = map "f$_.txt", 0 .. 9;
my $h = server(\@files, conf => <<'END');
FixedStaticMemory 64K 16M
FixedStaticCache 1000 60s
MaxKeepAliveRequests 0
EnableSendfile off
END

sub hits { return $h->counter('loop_hits') }

# Each file is httpd's to answer twice, in different orders.
my $good = 0;
my $before = hits();
for my $turn (1 .. 4) {
    my $c = Test::Client->new($h->port);
    for my $file ($turn % 2 ? @files : reverse @files) {
        my $r = $c->get("/$file");
        $good++ if $r->{body} eq "This is $file\n";
    }
    $c->close;
}
is $good, 40, 'all answers, each its own';
my $by = hits() - $before;
cmp_ok $by, '>=', 14, "$by of the last 20 by the loop";

# The connection that httpd has for one answer is the loop's for the next.
Test::Static::old_file($h, 'new.txt', "This is new.txt\n");
$before = hits();
my $c = Test::Client->new($h->port);
$good = grep { $c->get("/$_")->{body} eq "This is $_\n" }
    @files, 'new.txt', @files, 'new.txt', @files, '1k.txt', @files, 'new.txt';
is $good, 43, 'among known ones, some that are not known';
$by = hits() - $before;
cmp_ok $by, '>=', 35, "$by of 44 by the loop";
$c->close;

# Sent together, before the first is answered: in httpd's filter already.
$c = Test::Client->new($h->port);
$c->send(join '', map Test::Client::request("/$_"), 'none', @files);
is $c->answer->{status}, 404, 'not there';
is scalar(grep { my $r = $c->answer; $r && $r->{body} eq "This is $_\n" }
    @files), 10, 'what was sent with it follows';
$c->send(Test::Client::request("/$_")) for @files;
is scalar(grep { my $r = $c->answer; $r && $r->{body} eq "This is $_\n" }
    @files), 10, 'and what came later';

# The end of the client's side is found although nobody looks for it.
$c = Test::Client->new($h->port);
$c->send(Test::Client::request('/index.html'));
$c->shut;
is $c->answer->{status}, 200, 'half-closed: the answer';
is $c->end(5), 'end', 'and the end';
$h->finish;

# With one thread, which is not idle yet when the next request is there: the
# MPM would close a connection that waits in its pollset then.
my @many = map "g$_.txt", 1 .. 30;
$h = server(\@many, mpm_conf => "ThreadsPerChild 1\n", conf => <<'END');
FixedStaticCache 1000 60s
EnableSendfile off
END
$c = Test::Client->new($h->port);
is scalar(grep { my $r = $c->get("/$_"); $r && $r->{body} eq "This is $_\n" }
    @many), 30, 'one thread: no answer is missing, no connection closed';
$h->finish;
done_testing;
