# SPDX-License-Identifier: Apache-2.0
# A child that is not ours any more does what it likes with the memory that it
# shares: it cannot end its parent (by cutting what that has mapped), nor its
# siblings (by bytes that they read), and clients get what they asked for.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

# Built in front of the server that loads it.
my $dir = Test::Httpd->new(module => 0); # for its ServerRoot only
my $so = $dir->root . '/mod_hostile.so';
my $flags = join ' ', map { my $v = `@{[Test::Httpd::apxs()]} -q $_`; chomp $v; $v }
    qw(CFLAGS EXTRA_CPPFLAGS);
chomp(my $include = `@{[Test::Httpd::apxs()]} -q INCLUDEDIR`);
chomp(my $apr = `apr-1-config --includes --cppflags`);
is system("cc -shared -fPIC $flags -I$include $apr -o $so "
    . 't/module/hostile.c'), 0, 'the module is built';

my $h = Test::Static::server(seats => 3, conf => <<"END");
LoadModule asis_module $so
CPUAffinity auto
FixedSteering auto
FixedStaticCache 1000 1s
END
my $body = "what was asked for\n" x 50;
Test::Static::old_file($h, "f$_.txt", "$_ $body") for 1 .. 20;
$h->start;
ok $h->seated(3, '/status'), 'three processes';
my $parent = $h->parent;
my @children = $h->children;

# Every file on connections of their own. @return how many were right
sub right {
    my $good = 0;
    for my $n (1 .. 20) {
        my $c = Test::Client->new($h->port);
        my $r = $c->get("/f$n.txt");
        $good++ if $r && $r->{body} eq "$n $body";
        $c->close;
    }
    return $good;
}
right() for 1 .. 3;
cmp_ok $h->counter('loop_hits'), '>', 0, 'the loop answers';

my $said = $h->get('/hostile/shrink')->{body};
my %memfd = $said =~ m{^/memfd:(\S+).*?: (.*)$}mg;
for my $name (map "cpuaffinity-$_", qw(ring counts plan seats)) {
    like $memfd{$name} // '', qr/^EPERM EPERM EPERM uid \d+ size [1-9]/,
        "$name keeps its size";
}
is scalar(grep { !/^EPERM EPERM EPERM/ } values %memfd), 0,
    'so does all that a child has' or diag $said;
unlike $said, qr/uid 0 /, 'the child is not root' if $> == 0;

for my $round (1 .. 3) {
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my $r = $h->get('/hostile/scribble');
        POSIX::_exit($r->{body} =~ /wrote it all/ ? 0 : 1);
    }
    my ($good, $asked) = (0, 0);
    do {
        $good += right();
        $asked += 20;
        $h->get('/status?json');
        system 'timeout 10 ' . Test::Httpd::build_dir()
            . "/cpuaffinity ps $parent >/dev/null";
        is $? & 127, 0, 'ps reads it' if $? & 127;
    } while waitpid($pid, POSIX::WNOHANG()) != $pid;
    is $?, 0, 'any bytes were written everywhere, again and again';
    is $good, $asked, "$asked answers meanwhile are right";
}
is_deeply [ $h->children ], \@children, 'no sibling has ended';
kill KILL => $children[0];
ok $h->wait_for(sub {
    3 == grep { $_ != $children[0] } $h->children;
}, 20), 'the parent replaces one that ends';
is right(), 20, 'answers are right afterwards';
ok $h->graceful, 'the parent lives to restart gracefully';
ok $h->seated(3, '/status'), 'with three seats again';
is right(), 20, 'answers are right then';
ok kill(0, $parent), 'the parent has lived through it all';
$h->{allow_log} = qr/exit signal Killed/;
$h->finish;
$dir->finish;
done_testing;
