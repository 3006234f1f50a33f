# SPDX-License-Identifier: Apache-2.0
package Test::Survey;

# The configurations that people have (t/configs), each served by httpd as it
# is and with FixedStatic, over one small site; which share of plain GETs the
# loop answers.
#
#   my $site = Test::Survey::site();      # a directory, made once
#   for my $name (Test::Configurations::names()) {
#       my $s = Test::Survey->new($name, $site);
#       $s->start;
#       my $share = $s->share('browser'); # percent, compared with stock
#       $s->finish;
#   }
#
# The configurations as files: Test::Configurations.

use strict;
use warnings;
use File::Basename qw(dirname basename);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use JSON::PP ();
use Test::Configurations qw(slurp $configs);
use Test::Exchange;
use Test::Httpd;
use Test::Requests;
use Time::HiRes qw(time);

my $libexec = Test::Httpd::libexec();

# What the site has; the sizes are those of small real ones.
my %files = (
    'index.html' => '<!DOCTYPE html><title>home</title><p>some text ' x 40,
    'page.html' => "<p>what a page tells, and more of it</p>\n" x 500,
    'style.css' => "p.note { color: #334; margin: 0 1em }\n" x 160,
    'app.js' => "function f(a, b) { return a * b + 1 } // twice\n" x 1700,
    'logo.svg' => '<svg xmlns="http://www.w3.org/2000/svg">'
        . '<path d="M0 0 L10 10 Z"/>' x 60 . '</svg>',
    'photo.png' => "\x89PNG\r\n\x1a\n" . _noise(30_000),
    'font.woff2' => 'wOF2' . _noise(20_000),
    'paper.pdf' => "%PDF-1.7\n" . _noise(90_000),
    'docs/index.html' => "<p>the documents</p>\n" x 60,
    'robots.txt' => "User-agent: *\nDisallow:\n",
);
my @targets = ('/', map { "/$_" } qw(style.css app.js logo.svg photo.png
    font.woff2 docs/ page.html paper.pdf robots.txt index.html));

# Bytes that do not compress, the same ones each time.
sub _noise {
    my ($n) = @_;
    my ($x, $bytes) = (7, '');
    while (length $bytes < $n) {
        $x = ($x * 1_103_515_245 + 12_345) % 2**31;
        $bytes .= chr($x >> 16 & 255);
    }
    return $bytes;
}

# A directory with the site for configurations without a .htaccess, and one
# for each that has; settled as far as times can be set.
sub site {
    my $top = tempdir('cpuaff-XXXXXX', DIR => '/tmp', CLEANUP => 1);
    chmod 0755, $top;
    for my $name ('', map { basename($_, '.htaccess') }
        glob "$configs/*.htaccess") {
        my %all = (%files, cpuaffinity => '');
        $all{'.htaccess'} = slurp("$configs/$name.htaccess") if $name;
        for my $file (keys %all) {
            my $path = "$top/site$name/$file";
            make_path(dirname($path));
            open my $fh, '>:raw', $path or die "$path: $!";
            print {$fh} $all{$file};
            close $fh or die "$path: $!";
            utime 1_700_000_000, 1_700_000_000, $path;
        }
    }
    return $top;
}

# Has everything in it been as it is for more than two seconds?
sub is_settled { return time - (stat "$_[0]/site/robots.txt")[10] > 2.5 }

my $accept = 'text/html,application/xhtml+xml,application/xml;q=0.9';
my $chromium = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36'
    . ' (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
my $firefox = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:133.0)'
    . ' Gecko/20100101 Firefox/133.0';
my $coding = 'Accept-Encoding: gzip, deflate, br, zstd';
my @hints = ('sec-ch-ua: "Chromium";v="131", "Not_A Brand";v="24"',
    'sec-ch-ua-mobile: ?0', 'sec-ch-ua-platform: "Linux"');

# dest, and Accept of Chromium and of Firefox, of a sub-resource
my %dest = (css => [ 'style', 'text/css,*/*;q=0.1', 'text/css,*/*;q=0.1' ],
    js => [ 'script', '*/*', '*/*' ],
    svg => [ 'image', 'image/avif,image/webp,image/apng,image/svg+xml,'
            . 'image/*,*/*;q=0.8', 'image/avif,image/webp,image/png,'
            . 'image/svg+xml,image/*;q=0.8,*/*;q=0.5' ],
    woff2 => [ 'font', '*/*', 'application/font-woff2;q=1.0,application/'
            . 'font-woff;q=0.9,*/*;q=0.8' ]);
$dest{png} = $dest{svg};

# The fields that a client sends for a target, in its order.
my %client = (
    plain => sub { return ('User-Agent: curl/8.5.0', 'Accept: */*') },
    chromium => sub {
        my ($target, $origin) = @_;
        my $d = $target =~ /\.(\w+)$/ && $dest{$1};
        return ('Connection: keep-alive', @hints,
            'Upgrade-Insecure-Requests: 1', $chromium, "Accept: $accept,"
                . 'image/avif,image/webp,image/apng,*/*;q=0.8,application/'
                . 'signed-exchange;v=b3;q=0.7', 'Sec-Fetch-Site: none',
            'Sec-Fetch-Mode: navigate', 'Sec-Fetch-User: ?1',
            'Sec-Fetch-Dest: document', $coding,
            'Accept-Language: en-US,en;q=0.9') if !$d;
        my $cors = $d->[0] eq 'font';
        return ('Connection: keep-alive', ($cors ? "Origin: $origin" : ()),
            $hints[2], $chromium, @hints[ 0, 1 ], "Accept: $d->[1]",
            'Sec-Fetch-Site: same-origin',
            'Sec-Fetch-Mode: ' . ($cors ? 'cors' : 'no-cors'),
            "Sec-Fetch-Dest: $d->[0]", "Referer: $origin/", $coding,
            'Accept-Language: en-US,en;q=0.9');
    },
    firefox => sub {
        my ($target, $origin) = @_;
        my $d = $target =~ /\.(\w+)$/ && $dest{$1};
        return ($firefox, "Accept: $accept,*/*;q=0.8",
            'Accept-Language: en-US,en;q=0.5', $coding,
            'Connection: keep-alive', 'Upgrade-Insecure-Requests: 1',
            'Sec-Fetch-Dest: document', 'Sec-Fetch-Mode: navigate',
            'Sec-Fetch-Site: none', 'Sec-Fetch-User: ?1',
            'Priority: u=0, i') if !$d;
        my $cors = $d->[0] eq 'font';
        return ($firefox, "Accept: $d->[2]",
            'Accept-Language: en-US,en;q=0.5', $coding,
            'Connection: keep-alive', "Referer: $origin/",
            "Sec-Fetch-Dest: $d->[0]", 'Sec-Fetch-Mode: '
                . ($cors ? 'cors' : 'no-cors'), 'Sec-Fetch-Site: same-origin');
    });
my %clients = (plain => ['plain'], browser => [qw(chromium firefox)]);

# The connections of one round: lists of requests. Each client has two, the
# second of which begins with another target.
sub _round {
    my ($kind) = @_;
    my @connections;
    for my $client (@{ $clients{$kind} }) {
        my @r = map { join "\r\n", "GET $_ HTTP/1.1", 'Host: localhost',
            $client{$client}->($_, 'http://localhost'), '', '' } @targets;
        push @connections, [@r], [ @r[ 7 .. $#r ] ];
    }
    return @connections;
}

sub new {
    my ($class, $name, $site) = @_;
    my $self = bless { name => $name }, $class;
    $site .= '/site' . (-e "$configs/$name.htaccess" ? $name : '');
    $self->{$_} = Test::Httpd->new(module => $_ eq 'fixed') for qw(stock fixed);
    $self->_configure($_, $site) for qw(stock fixed);
    return $self;
}

# Modules that httpd has without loading them.
my %static;

sub _is_static {
    my ($module) = @_;
    if (!%static) {
        my $binary = Test::Httpd::httpd_binary();
        $static{$_}++ for `$binary -l` =~ /^\s*(?:mod_)?(\w+)\.c$/mg;
    }
    return $static{$module};
}

# The configuration with what a place of its own needs in front, and what is
# measured. LoadModule lines of what is not installed go.
sub _configure {
    my ($self, $which, $site) = @_;
    my $h = $self->{$which};
    my ($root, $port) = ($h->root, $h->port);
    symlink $libexec, "$root/modules";
    make_path("$root/configs/parts", map { "$root/$_" } qw(icons error
        noindex));
    $h->write_file('magic', "0 string %PDF- application/pdf\n");
    my %gone;
    for my $file (glob("$configs/*.conf $configs/parts/*.conf")) {
        my $text = slurp($file);
        $text =~ s{^(LoadModule \S+ modules/mod_(\w+)\.so)$}
            {if (-e "$libexec/mod_$2.so") { $1 }
             else { $gone{$file}{$2}++ if !_is_static($2); "# $1" }}gme;
        $h->write_file('configs/' . substr($file, 1 + length $configs), $text);
    }
    $self->{gone} = [ sort map { keys %{ $gone{$_} || {} } }
            "$configs/$self->{name}.conf", "$configs/parts/debian.conf" ];
    my $fixed = $which eq 'fixed' ? <<"END_OF_FIXED" : '';
LoadModule cpuaffinity_module @{[Test::Httpd::build_dir()]}/mod_cpuaffinity.so
FixedProcesses 1
FixedStatic on
<Location "/cpuaffinity">
    SetHandler cpuaffinity-status
</Location>
END_OF_FIXED
    my $user = $> == 0 ? "User www-data\nGroup www-data\n" : '';
    my $text = <<"END_OF_CONF";
Define ROOT "$root"
Define SITE "$site"
Define PORT $port
ServerRoot "$root"
DefaultRuntimeDir run
PidFile run/httpd.pid
CoreDumpDirectory "$root/cores"
ServerName localhost
Listen 127.0.0.1:$port
ErrorLog logs/error_log
${user}Include configs/$self->{name}.conf
StartServers 1
ServerLimit 2
ThreadsPerChild 16
MinSpareThreads 1
MaxSpareThreads 32
MaxRequestWorkers 32
$fixed
END_OF_CONF
    $h->write_file('httpd.conf', $text);
    return;
}

sub both { return @{ $_[0] }{qw(stock fixed)} }

# Both at the same time; alike => 1: so that figures have the same lengths.
sub start {
    my ($self, %o) = @_;
    Test::Exchange::start_alike('/robots.txt', $self->both) if $o{alike};
    $_->start(wait => 'pid') for grep { !$_->parent } $self->both;
    for my $h ($self->both) {
        $h->wait_for(sub { $h->children && eval { _connect($h) } }, 15)
            or die "$self->{name}: no answer\n" . $h->log;
        $h->with_threads;
    }
    return $self;
}

sub _connect {
    my ($h) = @_;
    return IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $h->port, Timeout => 5) || die "connect: $!";
}

# The answers to requests that come one after the other on one connection.
sub _ask {
    my ($h, @requests) = @_;
    my $s = _connect($h);
    my ($in, @answers) = ('');
    for my $r (@requests) {
        print {$s} $r;
        my $end = time + 10 * Test::Httpd::slow();
        my $len;
        until (defined($len = _length($in)) && length $in >= $len) {
            vec(my $bits = '', fileno $s, 1) = 1;
            select $bits, undef, undef, $end - time > 0 ? $end - time : 0;
            last if time >= $end;
            sysread $s, $in, 262_144, length $in or last;
        }
        push @answers, substr $in, 0, $len // length $in, '';
    }
    close $s;
    return @answers;
}

# How long the answer to a GET is at the beginning of the bytes, if it is told
# there.
sub _length {
    my ($in) = @_;
    my $head = index $in, "\r\n\r\n";
    return if $head < 0;
    my $text = substr $in, 0, $head + 2;
    return $head + 4 if $text =~ m{\AHTTP/1\.1 304};
    return $head + 4 + $1 if $text =~ /^Content-Length: (\d+)\r$/mi;
    return if $text !~ /^Transfer-Encoding: chunked\r$/mi;
    my $at = $head + 4;
    while (substr($in, $at, 20) =~ /\A([0-9a-f]+)[^\r]*\r\n/i) {
        my $n = hex $1;
        $at += $+[0] + $n + 2;
        return $at if !$n;
    }
    return;
}

# One round against a server: each answer masked.
sub _walk {
    my ($self, $h, $kind) = @_;
    return map { Test::Exchange::undated($_) }
        map { _ask($h, @$_) } _round($kind);
}

# The status, on a connection that ends: it is asked for in each round.
sub json {
    my ($self) = @_;
    my ($answer) = _ask($self->{fixed},
        "GET /cpuaffinity?json HTTP/1.0\r\nHost: localhost\r\n\r\n");
    return JSON::PP::decode_json($answer =~ s/\A.*?\r\n\r\n//sr);
}

sub hits {
    my ($self) = @_;
    my $sum = 0;
    $sum += $_->{loop_hits} for @{ $self->json->{seats} };
    return $sum;
}

# What a server's access log has from there on, sorted, times masked; without
# the lines for the status.
sub _lines {
    my ($h, $from) = @_;
    my $text = substr slurp($h->root . '/logs/access_log'), $from;
    $text =~ s/\[[^]]*\]/[-]/g;
    return sort grep { !m{GET /cpuaffinity} } split /(?<=\n)/, $text;
}

sub _log_size { return -s $_[0]->root . '/logs/access_log' }

# Waits until the log has stock's lines, each so many times.
# @return what it has more or less
sub _log_differs {
    my ($self, $rounds, %from) = @_;
    my ($got, $want);
    $self->{fixed}->wait_for(sub {
        $want = join '', map { ($_) x $rounds }
            _lines($self->{stock}, $from{stock});
        $got = join '', _lines($self->{fixed}, $from{fixed});
        return $got eq $want;
    }, 5) and return '';
    my %n;
    $n{$_}++ for split /(?<=\n)/, $got;
    $n{$_}-- for split /(?<=\n)/, $want;
    return join '', map { "$n{$_} x $_" } grep { $n{$_} } sort keys %n;
}

# The share in percent that the loop answers of a round, warm; the requests
# that differed from stock's, lines of the log among them. Rounds go on until
# the target is reached, and a little longer in hope of more: what httpd learns
# from comes when it gets a CPU.
sub share {
    my ($self, $kind, $target) = @_;
    my %from = map { $_ => _log_size($self->{$_}) } qw(stock fixed);
    my @stock = $self->_walk($self->{stock}, $kind);
    my @requests = map { @$_ } _round($kind);
    my ($best, $last, %different) = (0, 0);
    my $end = time + 10 * Test::Httpd::slow();
    # what moves with the clock is learned in seconds, not in rounds
    my $some = ($ENV{SURVEY} // '') eq 'write' ? time + 5 : 0;
    my $before = $self->hits;
    my $rounds;
    for my $round (1 .. 500) {
        my @fixed = $self->_walk($self->{fixed}, $kind);
        $rounds = $round;
        for my $i (grep { $fixed[$_] ne $stock[$_] } 0 .. $#stock) {
            $different{ (split ' ', $requests[$i])[1] } //=
                "$requests[$i]stock: $stock[$i]\nfixed: $fixed[$i]";
        }
        my $now = $self->hits;
        my $share = int 100 * ($now - $before) / @stock;
        $before = $now;
        ($best, $last) = ($share, $round) if $share > $best;
        last if $best >= 100
            || $round >= $last + 4 && $best >= $target && time > $some
            || $round >= 8 && time > $end;
    }
    my $log = $self->_log_differs($rounds, %from);
    $different{log} = "lines that stock's log has not, or too few:\n$log"
        if $log;
    return ($best, \%different);
}

# So many generated exchanges (Test::Requests) with both. @return where they
# differ
sub exchanges {
    my ($self, $n, $seed) = @_;
    my %validators;
    for my $target (@targets) {
        my ($etag) = $self->{stock}->get($target)->{head}
            =~ /^ETag: (.*?)\r$/m;
        $validators{$target} = [ 1_700_000_000, $etag // '"none"' ];
    }
    my $g = Test::Requests->new(seed => $seed, files => \%validators);
    my $e = Test::Exchange->new(ports => [ map { [ $_->port ] } $self->both ],
        logs => [ ('/dev/null') x 2 ], at_once => 4,
        slow => Test::Httpd::slow());
    my @x = map { $g->exchange($_) } 1 .. $n;
    # what mod_http2 says to a broken preface depends on when it comes
    @x = grep { $_->{steps}[0][0] !~ /^PRI/ } @x if $self->{name} eq 'h2c';
    $e->run(@x);
    return @{ $e->{differences} };
}

# What the status has as the thing in the way that cost most requests, or ''.
sub obstacle {
    my ($self) = @_;
    my $learning = $self->json->{learning};
    my ($most) = sort { $b->{requests} <=> $a->{requests}
            || $a->{index} <=> $b->{index} } grep { $_->{requests} }
        map { @{ $_->{obstacles} } } @{ $learning->{servers} };
    my $why = $most ? $most->{what} : '';
    $why .= ' (' . basename($most->{file}) . ":$most->{line})"
        if $most && $most->{file};
    if (!$most) {
        ($most) = sort { $b->{count} <=> $a->{count} }
            @{ $learning->{refusals} };
        $why = "$most->{rule}: $most->{reason}" if $most;
    }
    $why =~ s/\|/\\|/g;
    return $why;
}

sub finish { $_->finish for $_[0]->both; return }

1;
