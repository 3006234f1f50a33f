# SPDX-License-Identifier: Apache-2.0
# A large file that is not in memory: the loop has it read and goes on with
# the others, instead of waiting for the disk.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep);

plan skip_all => 'strace cannot be used here'
    if system('strace -f -o /dev/null true >/dev/null 2>&1');

my $h = Test::Static::server(conf => <<'END');
FixedStaticMemory 64K 16M
FixedStaticCache 1000 60s
MaxKeepAliveRequests 0
END
my $text = join '', map { pack 'N', $_ * 2654435761 % 4294967296 }
    1 .. 3_000_000;
my $path = Test::Static::old_file($h, 'cold.bin', $text);
$h->start;
ok $h->learn('/1k.txt'), 'a small file is known';
ok Test::Static::learn_long($h, '/cold.bin'), 'and a large one';
my ($loop) = $h->threads('static');

# Out of memory with it; what is dirty would stay.
system 'sync', $path;
is system("dd if=$path iflag=nocache count=0 2>/dev/null"), 0, 'dropped';

my $out = $h->root . '/run/strace';
my $pid = fork // die;
if (!$pid) {
    open STDERR, '>', "$out.err";
    exec 'timeout', 60, 'strace', '-e', 'trace=preadv2,sendfile,pread64',
        '-o', $out, '-p', $loop->{tid} or POSIX::_exit(127);
}
my $on = $h->wait_for(sub {
    Test::Httpd::slurp("$out.err") =~ /attached/;
}, 10);
my $before = $h->counter('loop_hits');
my ($large, $small) = map Test::Client->new($h->port), 1, 2;
$large->send(Test::Client::request('/cold.bin'));
my $good = 0;
for (1 .. 200) {
    my $r = $small->get('/1k.txt') or last;
    $good++ if length $r->{body} == 1024;
}
is $good, 200, 'small answers beside it';
my $r = $large->answer;
ok $r && $r->{body} eq $text, 'and all of its bytes';
cmp_ok $h->counter('loop_hits') - $before, '>=', 199,
    'by the loop';
sleep 0.2;
kill 'INT', $pid;
waitpid $pid, 0;
SKIP: {
    skip 'strace may not attach', 1 unless $on;
    my $calls = Test::Httpd::slurp($out);
    skip 'the file system keeps it in memory, or does not tell', 1
        unless $calls =~ /^preadv2.*EAGAIN/m;
    my ($looks) = scalar(() = $calls =~ /^preadv2.*EAGAIN/mg);
    cmp_ok $looks, '<', 2000, "the disk was waited for $looks times, idly";
}
$h->finish;
done_testing;
