# SPDX-License-Identifier: Apache-2.0
# Access logs: for answers of the loop every log gets exactly the line that
# stock httpd writes for the same requests.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep time);

my @items = (
    '%h', '%l', '%u', '%r', '%s', '%>s', '%<s', '%b', '%B', '%X', '%k', '%v',
    '%V', '%p', '%{canonical}p', '%{local}p', '%a', '%{c}a', '%A', '%U', '%q',
    '%m', '%H', '%f', '%L', '%{Host}i', '%{User-Agent}i', '%{Cookie}i',
    '%{a}C', '%400,501{Referer}i', '%!200{Referer}i', '%{Date}o', '%{Server}o',
    map("%{$_}o", qw(Content-Type Content-Length ETag Last-Modified Connection
        Keep-Alive Accept-Ranges Content-Range Vary X-A)),
);
my $all = join '|', map { (my $i = $_) =~ s/"/\\"/g; $i } @items;
my $conf = <<"END";
Header set X-A "b"
KeepAlive On
MaxKeepAliveRequests 3
LogFormat "$all" all
LogFormat "%h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\"" combined
LogFormat "%T %D %{ms}T %{us}T %P %{pid}P %{%s}t" times
LogFormat "%m %U" short
CustomLog logs/all all
CustomLog logs/combined combined
CustomLog logs/io "%I %O %S %U"
CustomLog logs/times times
CustomLog logs/quiet short env=!QUIET
CustomLog logs/never short env=LOUD
CustomLog "|\$/bin/cat >>\@ROOT\@/logs/piped" short
GlobalLog logs/global short
TransferLog logs/transfer
<VirtualHost *:\@PORT\@>
    ServerName first.test
    DocumentRoot \@ROOT\@/htdocs
</VirtualHost>
<VirtualHost *:\@PORT\@>
    ServerName second.test
    DocumentRoot \@ROOT\@/htdocs
    CustomLog logs/second "%v %U"
</VirtualHost>
END
my $t = Test::Twin->new(conf => $conf, modules => [qw(logio headers)]);
$t->file('sub/index.html', 'index of sub');
$t->start;

my @fields = ('Host: First.Test:80', "User-Agent: a\"b\\c\td", 'Cookie: a=b',
    'Referer: http://x/');
my @requests = map {
    my ($method, $target, $version, @more) = @$_;
    "$method $target HTTP/1.$version\r\n"
        . join('', map "$_\r\n", @fields, @more) . "\r\n"
} (
    [ 'GET', '/1k.txt', 1 ], [ 'GET', '/', 1 ], [ 'GET', '/sub/', 1 ],
    [ 'GET', '/1k.txt?a=b%20c', 1 ], [ 'HEAD', '/1k.txt', 1 ],
    [ 'GET', '/1k.txt', 1, 'Connection: close' ], [ 'GET', '/1k.txt', 0 ],
    [ 'GET', '/1k.txt', 0, 'Connection: keep-alive' ],
    [ 'GET', '/1k.txt', 1, 'Range: bytes=3-10' ],
    [ 'GET', '/1k.txt', 1, 'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT' ],
    [ 'GET', '/none', 1 ],
);
(my $second = $requests[0]) =~ s/First\.Test:80/second.test/;
push @requests, $second;

my @logs = qw(all combined io quiet never piped global transfer second);

sub sizes { my ($h) = @_; return map -s($h->root . "/logs/$_") // 0, @logs }

# Waits until all lines of what was answered are written: no log has grown
# for a while.
sub quiet {
    my ($twin) = @_;
    my ($last, $since) = ('', time);
    $twin->fixed->wait_for(sub {
        my $now = join ' ', map -s, map glob($_->root . '/logs/*'), $twin->both;
        ($last, $since) = ($now, time) if $now ne $last;
        return time - $since >= 0.3;
    }, 10);
}

# What was written since, with the volatile masked.
sub lines {
    my ($h, $log, $from) = @_;
    open my $fh, '<', $h->root . "/logs/$log" or return '';
    seek $fh, $from, 0;
    local $/;
    my $text = <$fh> // '';
    my ($root, $port) = ($h->root, $h->port);
    $text =~ s/\Q$root\E/ROOT/g;
    $text =~ s/\b$port\b/PORT/g;
    $text =~ s/\[\d+\/\w+\/\d{4}:[^\]]*\]/[time]/g;
    $text =~ s{\|[\w+/]{11}\|First}{|log id|First}g;
    return $text;
}

# The lines of both servers, when they are the same, or when they have had
# time enough to become so: a line is written after its answer.
sub both_lines {
    my ($twin, $log, $from, $sort) = @_;
    my @got;
    $twin->fixed->wait_for(sub {
        @got = map lines(($twin->both)[$_], $log, $from->[$_]), 0, 1;
        # httpd's own answers of /cpuaffinity are the fixed server's alone
        $got[1] =~ s/^.*\/cpuaffinity.*\n//mg;
        @got = map $sort->($_), @got if $sort;
        return $got[0] eq $got[1];
    }, 10);
    return @got;
}

sub io {
    my ($in, $out) = @_;
    my ($real) = grep $in == $_ || $in == $_ + 1, map length, @requests;
    return ($real // "odd $in") . " $out";
}

$t->learn($_) for @requests;
quiet($t);
my $hits = $t->hits;
my @before = map [ sizes($_) ], $t->both;
my @times = map -s($_->root . '/logs/times'), $t->both;
my $sent = 0;
for my $i (0 .. $#requests) {
    # alone, and as often as a connection lasts
    for my $list ([ $requests[$i] ], [ ($requests[$i]) x 3 ]) {
        last if @$list > 1 && $requests[$i] =~ m{close|HTTP/1.0\r};
        $t->same("request $i, " . @$list . ' times', $list);
        $sent += @$list;
    }
}
cmp_ok $t->hits - $hits, '>', $sent * 0.7, 'most of them were answered by the '
    . 'loop';
for my $i (0 .. $#logs) {
    # two threads write: order is not promised; %I is one more in stock httpd
    # when it happens to see the next request already (mod_logio counts what
    # httpd only looks at)
    my @got = both_lines($t, $logs[$i], [ map $before[$_][$i], 0, 1 ], sub {
        join "\n", sort map { s/^(\d+) (\d+) \d+ \//io($1, $2)/er }
            split /\n/, $_[0];
    });
    is $got[1], $got[0], "$logs[$i]: the same lines";
    ok length $got[0], "$logs[$i] has lines" unless $logs[$i] eq 'never';
}

# Times are no negative and no absurd numbers; the pid is a child's.
my $line = qr/^0 \d{1,6} \d{1,3} \d{1,6} \d+ \d+ \d{10}$/;
my @odd = grep !/$line/, split /\n/, lines($t->fixed, 'times', $times[1]);
is_deeply \@odd, [], 'times';
$t->finish;

# BufferedLogs: nothing is lost at a stop.
{
    my $b = Test::Twin->new(modules => [qw(logio)],
        conf => "BufferedLogs on\nCustomLog logs/all \"%U %O\"\n");
    $b->start;
    my $r = $b->request('/1k.txt');
    $b->learn($r);
    my $sent = 50;
    for my $h ($b->both) {
        $b->ask($h, [ ($r) x 10 ]) for 1 .. $sent / 10;
    }
    ok $b->fixed->wait_for(sub { $b->hits > 40 }), 'the loop answered';
    $_->stop for $b->both;
    my ($stock, $fixed) = map {
        my $n = () = lines($_, 'all', 0) =~ m{^/1k\.txt}mg;
        $n
    } $b->both;
    is $stock, $sent, 'stock httpd logs them all';
    is $fixed, $sent + $b->{learned}, 'and so does the loop';
    $b->finish;
}

# A log that does not take its lines does not stop the loop, and none is lost.
# Its program reads nothing until it may.
{
    my $b = Test::Twin->new(conf => "MaxKeepAliveRequests 0\n"
        . "CustomLog \"|\@ROOT\@/cgi-bin/reader\" \"%U " . '0' x 200 . "\"\n");
    for my $h ($b->both) {
        my $root = $h->root;
        $h->write_file('cgi-bin/reader', <<"END", 0755);
#!/bin/sh
while [ ! -e $root/run/read ]; do sleep 0.1; done
exec cat >>$root/logs/slow
END
    }
    $b->start;
    my $r = $b->request('/1k.txt');
    $b->learn($r);
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $b->fixed->port);
    my $seen = 0;
    my $ask = sub {
        my ($lots) = @_;
        for (1 .. $lots) {
            print {$s} $r x 50;
            my ($text, $want) = ('', 50);
            while ($want > 0) {
                sysread $s, $text, 65536, length $text or last;
                $want--, $seen++ while $text =~ s/\A.*?x{1023}\n//s;
            }
        }
    };
    # three times what a pipe takes, and fewer than lead to an audit
    $ask->(18);
    is $seen, 900, '900 are answered while the log takes none';
    is lines($b->fixed, 'slow', 0), '', 'which it does not';
    $_->write_file('run/read', '') for $b->both;
    $ask->(22);
    close $s;
    is $seen, 2000, 'all are answered';
    my $n = 0;
    $b->fixed->wait_for(sub {
        $n = () = lines($b->fixed, 'slow', 0) =~ m{^/1k\.txt 0{200}$}mg;
        return $n == $seen + $b->{learned};
    }, 10);
    is $n, $seen + $b->{learned}, 'and all are logged';
    $b->finish;
}

# Restarts: every answer has its line.
{
    my $b = Test::Twin->new(conf => "MaxKeepAliveRequests 0\n"
        . "CustomLog logs/all \"%U\"\n");
    $b->start;
    my $r = $b->request('/1k.txt');
    $b->learn($r);
    my ($answered, $restarts) = ($b->{learned}, 0);
    my $end = time + 5;
    my $limit = time + 60;
    my $next = time + 1;
    while (time < $end || $restarts < 2 && time < $limit) {
        my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
            PeerPort => $b->fixed->port) or next;
        print {$s} $r x 20;
        my $text = '';
        my $select = IO::Select->new($s);
        while ($select->can_read(5)) {
            sysread $s, $text, 65536, length $text or last;
            last if (() = $text =~ /x{1023}\n/g) >= 20;
        }
        my $n = () = $text =~ /x{1023}\n/g;
        $answered += $n;
        sleep 0.005;
        if (time >= $next && $restarts < 2) {
            $b->fixed->graceful;
            $restarts++;
            $next = time + 1;
        }
    }
    cmp_ok $b->hits, '>', 20, 'the loop answered';
    is $restarts, 2, 'through two restarts';
    my $n = 0;
    $b->fixed->wait_for(sub {
        $n = () = lines($b->fixed, 'all', 0) =~ m{^/1k\.txt}mg;
        return $n >= $answered;
    }, 5);
    is $n, $answered, 'as many lines as answers';
    $b->finish;
}
# One log whose format shows no field: lines gathered for one write, among
# them some that are longer than that, stay in order.
{
    my $b = Test::Twin->new(conf => "CustomLog logs/one \"%V %m %U %q\"\n");
    $b->start;
    my @r = map $b->request($_), '/1k.txt', '/1k.txt?' . 'q' x 900,
        '/1k.txt?short';
    $b->learn($_) for @r;
    quiet($b);
    my $hits = $b->hits;
    my @from = map -s($_->root . '/logs/one'), $b->both;
    for my $h ($b->both) {
        $b->ask($h, [ (@r) x 30 ]);
    }
    my @got = both_lines($b, 'one', \@from);
    is $got[1], $got[0], 'the same lines in the same order';
    is $got[0] =~ tr/\n//, 90, 'all of them';
    cmp_ok $b->hits - $hits, '>', 80, 'by the loop';
    $b->finish;
}
done_testing;
