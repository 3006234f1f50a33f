# SPDX-License-Identifier: Apache-2.0
# The loop repeats httpd's answers: learned after two, byte for byte.
use strict;
use warnings;
use IO::Socket::INET;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

my $h = Test::Static::server(mpm_conf => "ThreadsPerChild 4\n",
    modules => [qw(reqtimeout)], conf => "FixedStaticMemory 64K 16M\n");
$h->write_file('htdocs/big.bin', join('', map chr(rand 256), 1 .. 3 << 17));
my $old = time - 100;
utime $old, $old, glob $h->root . '/htdocs/*';
$h->start;

sub hits { $h->counter('loop_hits') }

sub body_ok {
    my ($path, %o) = @_;
    return $h->get($path, %o);
}

# The same path n times on new connections.
sub fetch { my ($path, $n) = @_; return map $h->get($path), 1 .. $n }

my @r = fetch('/1k.txt', 5);
is scalar(grep { $_->{status} == 200 } @r), 5, 'five answers';
is scalar(grep { $_->{body} eq 'x' x 1023 . "\n" } @r), 5, 'the same bytes';
ok $h->wait_for(sub { $h->get('/1k.txt'); hits() > 0 }),
    'then the loop answers' or diag $h->log;
s/^Date:.*\r\n//m for map $_->{head}, @r;
my %heads = map {
    (my $x = $_->{head}) =~ s/^Date:[^\n]*\n//m; ($x => 1)
} @r, $h->get('/1k.txt');
is scalar(keys %heads), 1, 'heads do not differ (Date aside)'
    or diag explain [ keys %heads ];

my $before = hits();
is $h->get('/1k.txt', args => ['-I'])->{status}, 200, 'HEAD';
is hits() - $before, 1, 'is answered by the loop';
my ($etag) = $h->get('/1k.txt')->{head} =~ /^ETag: (\S+)/m;
is $h->get('/1k.txt', args => [ '-H', "If-None-Match: $etag" ])->{status},
    304, 'If-None-Match';
is $h->get('/1k.txt', args => [ '-H', 'Range: bytes=10-19' ])->{body},
    'x' x 10, 'a range';
is hits() - $before, 4, 'all by the loop';

# Keep-alive: the first, and further ones on the connection.
{
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $h->port) or die $!;
    my $all = '';
    my $n0 = hits();
    for my $i (1 .. 60) {
        select undef, undef, undef, 0.01 if $i < 10;    # let the loop learn
        print {$s} "GET /1k.txt HTTP/1.1\r\nHost: localhost\r\n"
            . "Connection: keep-alive\r\n\r\n";
        my $want = 1024;
        my $buf = '';
        while ($buf !~ /\r\n\r\n/
            || length($buf) < index($buf, "\r\n\r\n") + 4 + $want) {
            sysread $s, $buf, 65536, length $buf or last;
        }
        $all .= $buf;
    }
    my $count = () = $all =~ m{^HTTP/1.1 200 OK}mg;
    is $count, 60, '60 answers on one connection';
    my @max = $all =~ /max=(\d+)/g;
    is_deeply \@max, [ reverse 41 .. 100 ], 'max= counts down over crossings'
        or diag "@max";
    ok $h->wait_for(sub { hits() - $n0 >= 20 }, 5),
        'some of them by the loop' or diag hits() - $n0;
}

# A larger file, by sendfile.
my $big = do { open my $f, '<:raw', $h->root . '/htdocs/big.bin'; local $/;
    <$f> };
my @b = fetch('/big.bin', 6);
is scalar(grep { $_->{body} eq $big } @b), 6, 'a larger file, six times';

# An edit is seen within VALID.
ok hits() > $before, 'hits grow';
open my $f, '>', $h->root . '/htdocs/1k.txt' or die $!;
print {$f} "new\n";
close $f;
ok $h->wait_for(sub { $h->get('/1k.txt')->{body} eq "new\n" }, 3),
    'an edit is seen';
is scalar(grep { $_->{body} ne "new\n" } fetch('/1k.txt', 5)), 0,
    'and not forgotten';
unlink $h->root . '/htdocs/1k.txt';
ok $h->wait_for(sub { $h->get('/1k.txt')->{status} == 404 }, 3),
    'a file that is gone is 404';
$h->finish;
done_testing;
