# SPDX-License-Identifier: Apache-2.0
package Test::Twin;

# The oracle: the same site served by httpd as it is (stock) and with
# FixedStatic (fixed). The same bytes are sent to both, and the answers have
# to be the same, dates aside.
#
#   my $t = Test::Twin->new(conf => "...", modules => [...]);
#   $t->file('a/b.txt', "text");        # under both document roots, settled
#   $t->start;
#   $t->settle;                         # where answers are compressed
#   $t->learn($t->request('/a/b.txt')); # sent until it would be known
#   $t->same('what', $request, from => '127.0.0.2');
#   $t->hits;                           # answers of the loop so far
#   $t->finish;
#
# tls => {...}, of a question or of new() for all that give none, is a TLS
# connection (its options are those of Test::TLS) to the port @TLS@.

use strict;
use warnings;
use File::Basename qw(dirname);
use File::Path qw(make_path);
use IO::Select;
use IO::Socket::INET;
use Test::Httpd;
use Test::More ();
use Time::HiRes qw(sleep time);
use Time::Local qw(timegm);
use Time::Piece ();

# Options as of Test::Httpd; conf is put behind what both have in common,
# FixedStatic included; twin_conf => 0: only the text given.
sub new {
    my ($class, %o) = @_;
    my $common = ($o{twin_conf} // 1) ? <<'END' : '';
<Directory />
    AllowOverride None
</Directory>
<Location /cpuaffinity>
    SetHandler cpuaffinity-status
</Location>
END
    my $conf = $common . ($o{conf} // '');
    my $modules = $o{modules} || [];
    my $self = bless { owner => $$ }, $class;
    # port numbers of the two have the same number of digits
    (my $off = $conf) =~ s/^\s*Fixed\w+ .*\n//mg;
    $off =~ s/<Location \/cpuaffinity>.*?<\/Location>\n//s;
    my $listen = Test::Httpd::listener();
    if ($self->{tls} = $o{tls}) {
        require Test::TLS;
        $listen .= $listen =~ s/\@PORT\@/\@TLS\@/r;
    }
    $self->{stock} = Test::Httpd->new(conf => $off, modules => $modules,
        module => 0, listen => $listen);
    $self->{fixed} = Test::Httpd->new(
        conf => "FixedProcesses 1\nLogLevel cpuaffinity:debug\n"
            . (($o{on} // 1) ? "FixedStatic on\n" : '') . $conf,
        modules => $modules, listen => $listen);
    $self->file($_) for qw(index.html 1k.txt);
    return $self;
}

sub stock { $_[0]{stock} }
sub fixed { $_[0]{fixed} }
sub both { ($_[0]{stock}, $_[0]{fixed}) }

# Writes a file (or only ages it) in both document roots.
sub file {
    my ($self, $name, $text, %o) = @_;
    $self->{touched} = 1;
    for my $h ($self->both) {
        my $path = $h->root . "/htdocs/$name";
        make_path(dirname($path));
        $h->write_file("htdocs/$name", $text) if defined $text;
        my $then = $o{mtime} // 1_700_000_000;
        utime $then, $then, $path;
    }
}

# Waits until every file is so old by its ctime, too, that httpd's answer with
# it may be learned. learn() does it for files that file() and change() touched.
sub settle {
    my ($self) = @_;
    $_->settle for $self->both;
    delete $self->{touched};
    return $self;
}

# Calls the sub with each of the document roots.
sub change {
    my ($self, $sub) = @_;
    $self->{touched} = 1;
    $sub->($_->root . '/htdocs') for $self->both;
}

sub start { $_->start for $_[0]->both; return $_[0] }

sub request {
    my ($self, $target, @fields) = @_;
    my $host = (grep /^Host:/i, @fields) ? '' : "Host: localhost\r\n";
    return "GET $target HTTP/1.1\r\n$host"
        . join('', map "$_\r\n", @fields) . "\r\n";
}

sub _connect {
    my ($h, $from, $tls) = @_;
    return Test::TLS->new($h->tls_port, from => $from, %$tls) if $tls;
    return IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $h->port, $from ? (LocalAddr => $from) : (),
        Timeout => 5) || die "connect: $!";
}

# Some more bytes of an answer. @return how many; 0: no more are to come
sub _more {
    my ($s, $all) = @_;
    if ($s->isa('Test::TLS')) {
        my $n = length $s->{in} || $s->more(5);
        $$all .= substr $s->{in}, 0, $n, '';
        return $n;
    }
    return 0 unless IO::Select->new($s)->can_read(5);
    return sysread($s, $$all, 65536, length $$all) || 0;
}

# Reads one answer to a GET (HEAD with head => 1), as far as its
# Content-Length says, or to the end.
sub _answer {
    my ($s, $head) = @_;
    my ($all, $end, $want) = ('', time + 10);
    while (time < $end && _more($s, \$all)) {
        next unless $all =~ /\r\n\r\n/;
        my $at = $+[0];
        if ($all =~ /^Transfer-Encoding: chunked/m) {
            last if $all =~ /\r\n0\r\n\r\n\z/;
            next;
        }
        my $len = $head || $all =~ m{\AHTTP/1.1 304} ? 0
            : substr($all, 0, $at) =~ /^Content-Length: (\d+)/mi ? $1 : next;
        last if length $all >= $at + $len;
    }
    return $all;
}

# Is the second date the first, or a few seconds later?
sub _is_at {
    my ($date, $other) = map {
        eval { Time::Piece->strptime($_, '%a, %d %b %Y %T GMT')->epoch } // 0
    } @_;
    return $other >= $date && $other < $date + 10;
}

# Seconds since 1970 of a date in a head; undef: it is none.
sub seconds {
    my ($date) = @_;
    my ($d, $m, $y, @time) = ($date // '')
        =~ /^\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/ or return;
    my $month = index 'JanFebMarAprMayJunJulAugSepOctNovDec', $m;
    return timegm($time[2], $time[1], $time[0], $d, $month / 3, $y);
}

# Expires as a distance from Date. ({expires})
sub _expires {
    my ($date) = map seconds($_), $_[0] =~ /^Date: (.*)\r$/m or return;
    $_[0] =~ s{^(Expires: )(.*)(?=\r$)}{
        my $when = seconds($2);
        $1 . (defined $when ? 'Date + ' . ($when - $date) : $2);
    }gme;
}

# Sends requests one after the other on one connection. @return the answers
# and whether the connection was closed, with dates masked (not with raw => 1)
sub ask {
    my ($self, $h, $requests, %o) = @_;
    my $tls = exists $o{tls} ? $o{tls} : $self->{tls};
    my $s = _connect($h, $o{from}, $tls);
    my @answers;
    for my $r (ref $requests ? @$requests : $requests) {
        $tls ? $s->send($r) : print {$s} $r;
        push @answers, _answer($s, scalar $r =~ /^HEAD/);
        for ($answers[-1]) {
            # of a file of the future: when httpd came to look, which may be
            # after the second of Date
            s/^(Date: (.*)\r\n(?:.*\r\n)*?Last-Modified: )(.*)\r$/
                $1 . (_is_at($2, $3) ? 'now' : $3) . "\r"/mge;
            last if $o{raw};
            _expires($_) if $self->{expires};
            s/^(Date: ).*\r$/$1masked\r/mg;
            s/^(X-Time: t=).*\r$/$1masked\r/mg;
            s/^(Expires: ).*\r$/$1masked\r/mg unless $self->{expires};
            s/^(Set-Cookie: Apache=)[^;]*/$1masked/mg;
            s/^(ETag: "[^;"]*;).*\r$/$1masked\r/mg; # of a directory
        }
    }
    my $port = $h->port;
    my $root = $h->root;
    s/\b$port\b/PORT/g, s/\Q$root\E/ROOT/g for @answers;
    if ($tls) {
        my $sealed = $h->tls_port;
        s/\b$sealed\b/TLS/g for @answers;
    }
    $tls ? $s->close : close $s;
    return @answers;
}

# Sends a request to the fixed server as often as learning takes, the last
# times on a kept connection, too. httpd closes one when a request comes on it
# and no thread is free just then; so {learned} counts the answers, eight as a
# rule. young => 1: at once, however young files are. @return the answers of
# the last time
sub learn {
    my ($self, $request, %o) = @_;
    my @last;
    $self->settle if $self->{touched} && !$o{young};
    for (1 .. 4) {
        @last = $self->ask($self->{fixed}, [ ($request) x 2 ], %o);
        $self->{learned} += grep length, @last;
        sleep 0.03;
    }
    return @last;
}

# Learns until the loop has answered, if it ever does: a process of httpd may
# get its CPU late to learn what it has just sent. @return true when it has
sub learned {
    my ($self, $request, %o) = @_;
    my $before = $self->hits;
    return $self->{fixed}->wait_for(sub {
        $self->learn($request, %o);
        return $self->hits > $before;
    }, 10);
}

# One test: both give the same to these requests.
sub same {
    my ($self, $name, $requests, %o) = @_;
    my $stock = join "\n--\n", $self->ask($self->{stock}, $requests, %o);
    my $fixed = join "\n--\n", $self->ask($self->{fixed}, $requests, %o);
    return Test::More::is($fixed, $stock, $name);
}

# The sum of a counter over all seats.
sub counter {
    my ($self, $name) = @_;
    my $sum = 0;
    $sum += $_->{$name} // 0
        for @{ $self->{fixed}->json('/cpuaffinity?json')->{seats} };
    return $sum;
}

sub hits { $_[0]->counter('loop_hits') }

sub finish { $_->finish for $_[0]->both }

1;
