# SPDX-License-Identifier: Apache-2.0
# No answer is older than 60 seconds, though nothing of the file but its bytes
# has changed: what is written through a mapping shows in no time for long (on
# tmpfs never). httpd's answer renews only bytes that are the file's, at the
# renewal before 60 seconds, after them, and in an audit. What is sent from
# the file is always as it is; what a filter makes of it is a copy.
use strict;
use warnings;
use Compress::Zlib ();
use File::Temp qw(tempdir);
use IO::Handle;
use IPC::Open2;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

plan skip_all => 'a sanitizer is preloaded, and so would be the clock'
    if $ENV{PRELOAD};
plan skip_all => 'no /dev/shm' unless -d '/dev/shm' && -w _;

my $site = tempdir('cpuaff-XXXXXX', DIR => '/dev/shm', CLEANUP => 1);
chmod 0755, $site;

sub times_of { join ' ', (stat "$site/$_[0]")[ 1, 7, 9, 10 ] }

# A program that has a file mapped and writes each letter it is told into all
# of it. The times move with the first write, which makes the pages dirty.
my $writer = <<'END';
import mmap, sys
with open(sys.argv[1], "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    for line in sys.stdin:
        m[:] = line[:1].encode() * len(m)
        print("done", flush=True)
END
my %writer;

# A file of long ago, of so many times the letter a, which is mapped.
sub create {
    my ($name, $size) = @_;
    my $path = "$site/$name";
    open my $fh, '>', $path or die "$path: $!";
    print {$fh} 'a' x $size;
    close $fh;
    my $pid = open2(my $out, my $in, 'python3', '-c', $writer, $path);
    $writer{$name} = [ $pid, $in, $out ];
    scrawl($name, 'a');
    utime 1_700_000_000, 1_700_000_000, $path;
}

sub remove {
    my ($pid, $in, $out) = @{ delete $writer{ $_[0] } };
    close $in;
    waitpid $pid, 0;
    unlink "$site/$_[0]";
}

# All of its bytes become another letter. @return whether no time has moved
sub scrawl {
    my ($name, $letter) = @_;
    my (undef, $in, $out) = @{ $writer{$name} };
    my $before = times_of($name);
    print {$in} "$letter\n";
    $in->flush;
    my $done = readline $out;
    return $done && $before eq times_of($name);
}

create('probe', 10);
my $silent = scrawl('probe', 'b');
remove('probe');
plan skip_all => 'a write through a mapping moves the times here'
    unless $silent;

for ([ 1, '' ], [ 2, '' ], [ 1, 'gzip' ]) {
    my ($seats, $coding) = @$_;
    my @names = $coding ? 'small' : ('small', 'large');
    my $port = Test::Httpd::free_port();
    my $h = Test::Static::server(seats => $seats, listen => "Listen $port\n",
        modules => ['deflate'], conf => <<"END");
CPUAffinity off
FixedSteering off
MaxKeepAliveRequests 0
FixedStaticCache 1000 60s
FixedStaticMemory 64K 16M
<VirtualHost *:$port>
    DocumentRoot $site
    SetOutputFilter DEFLATE
    <Directory $site>
        Require all granted
    </Directory>
    <Location /status>
        SetHandler cpuaffinity-status
    </Location>
</VirtualHost>
END
    $h->{port} = $port;
    my $clock = $h->write_file('clock', '0');
    $h->{env} = { CLOCK_ON => $clock,
        LD_PRELOAD => Test::Httpd::build_dir() . '/preload/clock.so' };
    create('small', 1000);
    create('large', 200_000);
    $h->start;
    ok $h->seated($seats, '/status'), "$seats processes $coding";

    my $now = 0;
    my $later = sub { $h->write_file('clock.new', $now += $_[0]);
        rename $h->root . '/clock.new', $clock };
    # The letters that so many requests are answered with, each on a
    # connection of its own, and how many answers were the loops'.
    my $letters = sub {
        my ($name, $n) = @_;
        my %seen;
        my $hits = $h->counter('loop_hits');
        for (1 .. $n) {
            my $c = Test::Client->new($port);
            my $r = $c->get("/$name", "Accept-Encoding: $coding");
            my $body = $r ? $r->{body} : '';
            $body = Compress::Zlib::memGunzip($body) // '' if $coding;
            $seen{ join '', grep { index($body, $_) >= 0 } 'a' .. 'd' }++;
            $c->close;
        }
        return (join(',', sort keys %seen),
            $h->counter('loop_hits') - $hits);
    };
    # Until all answers of a round are the loops'.
    my $known = sub {
        my ($name) = @_;
        return $h->wait_for(sub { ($letters->($name, 10))[1] == 10 }, 10);
    };

    for my $name (@names) {
        ok $known->($name), "the loops answer for the $name file";
        ok scrawl($name, 'b'), 'its bytes change, its times do not';
    }
    is +($letters->('large', 10))[0], 'b', 'what is sent from the file is it'
        unless $coding;
    like +($letters->('small', 10))[0], qr/^[ab]$/,
        'a copy is what was, for a while';

    $later->(55);
    ok $h->wait_for(sub { ($letters->('small', 10))[0] eq 'b' }, 10),
        'after 55 seconds it is asked for again, and is the new bytes';
    ok $known->('small'), 'the loops answer again';
    is +($letters->('small', 20))[0], 'b', 'with the new bytes';

    scrawl('small', 'c');
    $later->(61);
    my ($seen) = $letters->('small', 20);
    is $seen, 'c', 'after 61 seconds every answer is new';
    ok $known->('small'), 'the loops answer again';
    is +($letters->('small', 20))[0], 'c', 'with the new bytes';

    # An audit, after a thousand hits of one process.
    if ($seats == 1) {
        my @ask = ('/small', "Accept-Encoding: $coding");
        my $c = Test::Client->new($port);
        my $hits = $h->counter('loop_hits');
        ok $h->wait_for(sub { $c->get(@ask) for 1 .. 4;
            $h->counter('loop_hits') >= $hits + 8 }, 10),
            'later requests of a connection are known, too';
        scrawl('small', 'd');
        my $audited = $h->counter('audited');
        ok $h->wait_for(sub {
            for (1 .. 20) {
                $c->send(Test::Client::request(@ask) x 50);
                my $n = grep { $c->answer } 1 .. 50;
                $c = Test::Client->new($port) if $n < 50;
            }
            return $h->counter('audited') > $audited;
        }, 40), 'an audit';
        $c->close;
        is $h->counter('differed'), 0,
            'takes it for no fault of the configuration';
        is +($letters->('small', 20))[0], 'd', 'the bytes are new after it';
    }
    ok $known->('small'), 'and the loops answer again';
    $h->finish;
    remove($_) for qw(small large);
}
done_testing;
