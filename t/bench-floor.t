# SPDX-License-Identifier: Apache-2.0
# The bare epoll loop that is the limit to compare with: stock httpd's bytes,
# also for pipelined and cut requests, and it ends with its parent.
use strict;
use warnings;
use Cwd qw(abs_path);
use FindBin;
use IO::Socket::INET;
use Test::More;
use Test::Httpd;
use Time::HiRes qw(sleep time);

my $build = abs_path($ENV{BUILD} || "$FindBin::Bin/../build");
my $h = Test::Httpd->new(module => 0);
$h->write_file('htdocs/1k.txt', "abcdefghijklmno\n" x 64);
# an ETag is weak for a file of this second
utime time - 3600, time - 3600, $h->root . '/htdocs/1k.txt';
$h->start;
my $port = Test::Httpd::free_port();
my ($server) = `@{[Test::Httpd::httpd_binary()]} -v` =~ /version: (.*)/;

# its parent is a shell that waits, so that the shell can be killed
my $shell = fork // die $!;
if (!$shell) {
    exec 'sh', '-c', '"$@" & echo $! >"$0"; wait', $h->root . '/floor.pid',
        "$build/bench/floor", '127.0.0.1', $port,
        $h->root . '/htdocs/1k.txt', $server;
}

sub conn {
    my ($to) = @_;
    for (1 .. 100) {
        my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
            PeerPort => $to);
        return $s if $s;
        sleep 0.05;
    }
    die "nothing listens on $to: $!";
}

# Sends the parts with a pause after each, and reads what is expected, and on
# until nothing comes.
sub talk {
    my ($to, $expected, @parts) = @_;
    my $s = conn($to);
    for (@parts) {
        syswrite $s, $_;
        sleep 0.1 if @parts > 1;
    }
    my $text = '';
    while (1) {
        vec(my $r = '', fileno $s, 1) = 1;
        select($r, undef, undef, length $text < $expected ? 15 : 0.3) or last;
        sysread($s, $text, 65536, length $text) or last;
    }
    $text =~ s/^Date: .{29}\r$/Date: \r/mg;
    return $text;
}

my $get = "GET /1k.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
my $one = talk($h->port, 1025, $get);
my $date_is = 29; # characters, which talk() takes out
my $length = length($one) + $date_is;
like $one, qr/^HTTP\/1.1 200 OK\r\nDate: \r\nServer: \Q$server\E\r\n/,
    'httpd answers';
is talk($port, $length, $get), $one, 'the loop answers with the same bytes';
ok talk($port, 3 * $length, $get x 3) eq $one x 3, 'three pipelined requests';
ok talk($port, 70 * $length, $get x 70) eq $one x 70, 'more than go into one send';
ok talk($port, $length, substr($get, 0, -3), substr($get, -3)) eq $one,
    'a request cut in the middle of its end';
my $date = do {
    my $s = conn($port);
    syswrite $s, $get;
    sysread $s, my $text, 4096;
    my ($d) = $text =~ /^Date: (.*?)\r$/m;
    $d;
};
like $date, qr/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/, 'its date';

open my $fh, '<', $h->root . '/floor.pid' or die $!;
chomp(my $pid = <$fh>);
my @children;
# one may serve before the last is there
$h->wait_for(sub {
    @children = map { m{^(\d+) \(floor\) \S $pid } ? $1 : () }
        map { Test::Httpd::slurp($_) } glob '/proc/[0-9]*/stat';
    return @children == `nproc`;
});
is scalar @children, scalar(`nproc`) + 0, 'a process per CPU';
kill 'KILL', $shell;
waitpid $shell, 0;
my $end = time + 10;
sleep 0.05 while time < $end && grep { -d "/proc/$_" } $pid, @children;
is_deeply [ grep { -d "/proc/$_" } $pid, @children ], [],
    'it ends with its parent';
$h->finish;
done_testing;
