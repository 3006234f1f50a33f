# SPDX-License-Identifier: Apache-2.0
# Files that change while they are served: cut, replaced, revoked, of a kind
# that must not be opened, longer than 32 bits count.
use strict;
use warnings;
use Fcntl qw(O_NONBLOCK O_RDWR);
use POSIX qw(mkfifo);
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep time);

my $h = Test::Static::server(conf => <<'END');
FixedStaticMemory 64K 16M
KeepAliveTimeout 60
<Directory "@ROOT@/htdocs/copied">
    EnableSendfile Off
</Directory>
END
my $docs = $h->root . '/htdocs';
mkdir "$docs/copied";

sub put { Test::Static::old_file($h, @_) }
my $block = join '', map chr($_ * 31 % 256), 0 .. 65535;
put("$_.txt", "$_\n" x 100) for qw(replaced fifo gone dir revoked grown link);
put('cut.bin', $block x 320);
put('copied/a.bin', $block x 8);
put('copied/cut.bin', $block x 320);
put('long.bin', '');
{
    # 5 GiB without a byte on the disk, but for one at 4 GiB
    open my $f, '+<', "$docs/long.bin" or die $!;
    truncate $f, 5 << 30;
    sysseek $f, 4 << 30, 0;
    syswrite $f, 'here';
    close $f;
    utime 1_700_000_000, 1_700_000_000, "$docs/long.bin";
}
$h->start;

sub hits { $h->counter('loop_hits') }

# A long file is known by its head: nobody wants to read all of it.
sub learn_range {
    my ($target) = @_;
    return $h->wait_for(sub {
        my $before = hits();
        for (1 .. 2) {
            my $c = Test::Client->new($h->port);
            $c->send(Test::Client::request($target));
            $c->more;
        }
        my $c = Test::Client->new($h->port);
        $c->get($target, 'Range: bytes=0-0');
        hits() > $before;
    }, 10);
}

for my $f ("cut.bin", "copied/cut.bin", "copied/a.bin") {
    ok learn_range("/$f"), "$f is known";
}
is $h->get('/copied/a.bin')->{body}, $block x 8, 'by read, without sendfile';

# Cut while it is sent: no spinning, the client sees that it is too short.
for my $f ('cut.bin', 'copied/cut.bin') {
    my $before = hits();
    my $c = Test::Client->new($h->port, rcvbuf => 8192);
    $c->send(Test::Client::request("/$f"));
    $c->more;
    is hits() - $before, 1, "$f: the loop sends it";
    truncate "$docs/$f", 1000;
    isnt $c->end, '', 'the connection ends';
    cmp_ok length $c->{in}, '<', 320 * 65536, 'before all was sent';
    my $body = substr $c->{in}, index($c->{in}, "\r\n\r\n") + 4;
    # sendfile: pages that waited in the socket are cut too (security.md)
    $body =~ s/\0+\z// if $f eq 'cut.bin';
    ok index($block x 320, $body) == 0, 'what came is of the file';
    ok $h->wait_for(sub {
        my $r = Test::Client->new($h->port)->get("/$f");
        $r && $r->{status} == 200 && length $r->{body} == 1000;
    }, 5), 'then its new length is served';
}

# Long ones.
{
    my $before = hits();
    learn_range('/long.bin');
    $before = hits();
    my $c = Test::Client->new($h->port);
    my $r = $c->get('/long.bin', 'Range: bytes=4294967294-4294967301');
    is $r->{status}, 206, 'a range beyond 4 GiB';
    is $r->{body}, "\0\0here\0\0", 'its bytes';
    like $r->{head}, qr{^Content-Range: bytes 4294967294-4294967301/5368709120\r}m,
        'Content-Range';
    $r = $c->get('/long.bin', 'Range: bytes=-3');
    is $r->{body}, "\0\0\0", 'its last bytes';
    $c->send("HEAD /long.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
    $r = $c->answer(head => 1);
    like $r->{head}, qr/^Content-Length: 5368709120\r/m, 'its length';
    cmp_ok hits() - $before, '>', 0, 'by the loop';
}

# Known, then something else in its place; never a hang, never the old one
# after VALID.
my @kinds = qw(fifo gone dir revoked grown link);
for my $kind (@kinds) {
    ok $h->learn("/$kind.txt"), "$kind.txt is known";
}
unlink map "$docs/$_.txt", qw(fifo gone dir link);
mkfifo "$docs/fifo.txt", 0666;
mkdir "$docs/dir.txt";
symlink 'replaced.txt', "$docs/link.txt";
chmod 0, "$docs/revoked.txt";
put('grown.txt', 'x' x 100_000);
sleep 1.2;
# httpd's open waits for a writer; the loop's must not.
my $waits = Test::Client->new($h->port);
$waits->send(Test::Client::request('/fifo.txt'));
my %want = (gone => 404, dir => 301, grown => 200, link => 200,
    revoked => 403);
for my $kind (grep exists $want{$_}, @kinds) {
    for my $what ('once', 'again') {
        my $r = Test::Client->new($h->port)->get("/$kind.txt");
        is $r && $r->{status}, $want{$kind}, "$kind, $what";
        is length $r->{body}, 100_000, 'its new length' if $kind eq 'grown';
        is $r->{body}, "replaced\n" x 100, 'what the link leads to'
            if $kind eq 'link';
    }
}

is $waits->more(0), 0, 'the FIFO is one thread\'s business';
sysopen my $writer, "$docs/fifo.txt", O_RDWR | O_NONBLOCK or die $!;
isnt $waits->answer, undef, 'until there is a writer';
close $writer;

# Replaced all the time: every answer is of one version, and the last one
# is served in the end.
{
    my $body = sub { "version $_[0]\n" x 200 };
    my ($n, %seen, @bad) = (0);
    put('replaced.txt', $body->(0));
    ok $h->learn('/replaced.txt'), 'replaced.txt is known';
    my $end = time + 4;
    my $c = Test::Client->new($h->port);
    while (time < $end) {
        $n++;
        my $path = put("new.$n", $body->($n));
        utime 1_700_000_000 + $n, 1_700_000_000 + $n, $path;
        rename $path, "$docs/replaced.txt" or die $!;
        for (1 .. 10) {
            my $r = $c->get('/replaced.txt');
            if (!$r) {
                $c = Test::Client->new($h->port);
                next;
            }
            my ($v) = $r->{body} =~ /^version (\d+)\n/;
            push @bad, substr $r->{body}, 0, 100
                if !defined $v || $r->{body} ne $body->($v);
            $seen{ $v // '' }++;
        }
        sleep .005;
    }
    is "@bad", '', "$n replacements: whole versions only";
    cmp_ok scalar keys %seen, '>', 2, 'new ones are seen';
    ok $h->wait_for(sub {
        my $r = Test::Client->new($h->port)->get('/replaced.txt');
        $r->{body} eq $body->($n);
    }, 3), 'the last one stays';
}
$h->finish;
done_testing;
