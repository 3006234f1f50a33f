# SPDX-License-Identifier: Apache-2.0
# What is noticed although the configuration does not show it: a module behind
# a known name that chooses files itself (R2), and one whose answers change
# without the file (the audit: one hit in a thousand is httpd's). An audit in
# which httpd fails is no difference.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep);

my $dir = Test::Httpd->new(module => 0); # for its ServerRoot only
my $so = $dir->root . '/mod_disguise.so';
my $flags = join ' ', map { my $v = `@{[Test::Httpd::apxs()]} -q $_`; chomp $v; $v }
    qw(CFLAGS EXTRA_CPPFLAGS);
chomp(my $include = `@{[Test::Httpd::apxs()]} -q INCLUDEDIR`);
chomp(my $apr = `apr-1-config --includes --cppflags`);
is system("cc -shared -fPIC $flags -I$include $apr -o $so "
    . 't/module/disguise.c'), 0, 'the module is built';

my $t = Test::Twin->new(conf => <<"END");
LoadModule disguise_module $so
MaxKeepAliveRequests 0
FixedStaticCache 1000 30s
<VirtualHost *:\@PORT\@>
    ServerName other.test
    DocumentRoot \@ROOT\@/htdocs
</VirtualHost>
<VirtualHost *:\@PORT\@>
    ServerName failing.test
    DocumentRoot \@ROOT\@/htdocs
    ErrorDocument 500 /error.txt
</VirtualHost>
<VirtualHost *:\@PORT\@>
    ServerName turning.test
    DocumentRoot \@ROOT\@/htdocs
</VirtualHost>
END
$t->file('sendfile/a.txt', "never sent\n");
$t->file('other.txt', "other\n");
$t->file('turn/a.txt', "turn\n");
$t->file("$_.txt", "turn\n") for qw(fail/a turn/scarce);
$t->file('error.txt', "error\n");
unless ($ENV{PRELOAD}) {
    $_->{env} = { NOOPEN => 'scarce.txt', NOOPEN_IF => $_->root . '/none-left',
        LD_PRELOAD => Test::Httpd::build_dir() . '/preload/noopen.so' }
        for $t->both;
}
$t->start;

# R2: the answer is a whole file with its own ETag, but not httpd's choice.
my $a = $t->request('/sendfile/a.txt');
$t->learn($a);
is $t->hits, 0, 'a file that a module sends is not learned';
like $t->fixed->log, qr/is not learned \(R2\)/, 'because of its handler';
$t->same('its next answer', $t->request('/sendfile/a.txt',
    'Cookie: other.txt'));

# Many hits on one connection, in lots.
sub hammer {
    my ($request, $count) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $t->fixed->port) or die "connect: $!";
    my $seen = 0;
    for (1 .. $count / 50) {
        print {$s} $request x 50;
        my $want = 50;
        my $text = '';
        while ($want > 0) {
            sysread $s, $text, 65536, length $text or return $seen;
            while ($text =~ s/\A.*?\r\n\r\nturn\n//s) { $want--, $seen++ }
        }
    }
    return $seen;
}

my $turn = $t->request('/turn/a.txt', 'Host: turning.test');
$t->learned($turn);
cmp_ok $t->hits, '>', 0, 'the loop answers';
is hammer($turn, 2500), 2500, 'every request is answered';
$t->fixed->wait_for(sub { $t->counter('audited') >= 2 }, 5);
cmp_ok $t->counter('audited'), '>=', 2, 'one in a thousand is audited';
is $t->counter('differed'), 0, 'and none differs';

# httpd fails when it is asked: for want of descriptors, memory or disk, or
# because it refuses. The answer is not repeated from then on, and the vhost is
# as it was.
my $fail = $t->request('/fail/a.txt', 'Host: failing.test');
for my $status (403, 500, 503, 404) {
    unlink map $_->root . '/failing', $t->both;
    $t->learned($fail);
    my $refused = $status == 500
        ? qr/error\.txt is not learned .*: answered by another request/
        : qr/fail\/a\.txt is not learned .*: $status/;
    my $before = $t->fixed->log_count($refused);
    $_->write_file('failing', $status) for $t->both;
    ok $t->fixed->wait_for(sub {
        hammer($fail, 500);
        $t->fixed->log_count($refused) > $before;
    }, 20), "an audit, or a renewal, gets $status";
    $before = $t->hits;
    $t->same("$status is httpd's answer from then on", [$fail]) for 1 .. 3;
    is $t->hits, $before, 'each time';
    is $t->counter('differed'), 0, 'that is no difference';
}
unlink map $_->root . '/failing', $t->both;
ok $t->learned($fail), 'and it is learned again when httpd is well';
unlike $t->fixed->log, qr/FixedStatic is off for this vhost/,
    'the vhost was never off';

# As it really happens: no descriptor is left to open the file with.
SKIP: {
    skip 'a sanitizer is preloaded, and so would be what denies', 8
        if $ENV{PRELOAD};
    my $scarce = $t->request('/turn/scarce.txt', 'Host: turning.test');
    my $refused = qr/turn\/scarce\.txt is not learned .*: 403/;
    ok $t->learned($scarce), 'a file is known';
    $_->write_file('none-left', '') for $t->both;
    ok $t->fixed->wait_for(sub {
        hammer($scarce, 500);
        $t->fixed->log_count($refused);
    }, 20), 'an audit cannot open it';
    my $before = $t->hits;
    $t->same('httpd says so from then on', [$scarce]) for 1 .. 3;
    is $t->hits, $before, 'each time';
    unlink map $_->root . '/none-left', $t->both;
    ok $t->learned($scarce), 'it is learned again when there are some';
    is $t->counter('differed'), 0, 'that was no difference';
}

# Parts and unchanged files prove nothing against the loop.
my $part = $t->request('/turn/a.txt', 'Host: turning.test',
    'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT');
{
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $t->fixed->port);
    for (1 .. 44) {
        print {$s} $part x 50;
        my ($text, $want) = ('', 50);
        while ($want > 0) {
            sysread $s, $text, 65536, length $text or last;
            $want-- while $text =~ s/\A.*?\r\n\r\n//s;
        }
    }
}
sleep 0.2;
is $t->counter('differed'), 0, 'a 304 of httpd is no difference';

$t->fixed->write_file('turned', 'now');
hammer($turn, 1200);
$t->fixed->wait_for(sub { $t->counter('differed') >= 1 }, 5);
is $t->counter('differed'), 1, 'the audit finds the difference';
like $t->fixed->log, qr/error.*FixedStatic is off for this vhost until/,
    'the log says so';
my $before = $t->hits;
my ($now) = $t->learn($turn);
is $t->hits, $before, 'the vhost is off';
like $now, qr/X-Turned: 1/, 'and its answers are httpd\'s';
$t->learned($t->request('/1k.txt', 'Host: other.test'));
cmp_ok $t->hits, '>', $before, 'another vhost is not';
$t->finish;
$dir->finish;
done_testing;
