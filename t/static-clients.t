# SPDX-License-Identifier: Apache-2.0
# Real clients, on their own and as reverse proxies in front, against the
# fixed-process mode with FixedStatic on: all answers right, most by the loop.
use strict;
use warnings;
use IO::Socket::INET;
use POSIX ();
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

my $h = Test::Static::server(seats => 2,
    mpm_conf => "ThreadsPerChild 64\n", modules => [qw(reqtimeout)],
    conf => <<'END');
CPUAffinity auto
MaxKeepAliveRequests 0
END
$h->write_file('htdocs/100k.bin', join '', map { chr $_ % 251 } 1 .. 102400);
my $old = time - 1000;
utime $old, $old, glob $h->root . '/htdocs/*';
$h->start;
my $url = 'http://127.0.0.1:' . $h->port;

sub hits { $h->counter('loop_hits') }

sub have {
    my ($name) = @_;
    for my $dir (qw(/usr/bin /usr/sbin /bin /usr/local/bin)) {
        return "$dir/$name" if -x "$dir/$name";
    }
    return;
}

sub slurp {
    my ($path) = @_;
    open my $fh, '<:raw', $path or return '';
    local $/;
    return <$fh>;
}

SKIP: {
    skip 'ab is not installed', 6 unless have('ab');
    for my $k ('', '-k') {
        my $before = hits();
        my $out = `timeout 30 ab -q $k -n 2000 -c 20 $url/1k.txt 2>&1`;
        like $out, qr/Complete requests:\s+2000/, "ab $k: all requests";
        like $out, qr/Failed requests:\s+0/, "ab $k: none failed";
        cmp_ok hits() - $before, '>', 1000, "ab $k: most by the loop";
    }
}

SKIP: {
    skip 'h2load is not installed', 2 unless have('h2load');
    my $before = hits();
    my $out = `timeout 30 h2load --h1 -n 2000 -c 20 $url/100k.bin 2>&1`;
    like $out, qr/2000 succeeded, 0 failed, 0 errored/, 'h2load --h1'
        or diag $out;
    cmp_ok hits() - $before, '>', 1000, 'h2load: most by the loop';
}

SKIP: {
    skip 'wget is not installed', 1 unless have('wget');
    my $file = $h->root . '/run/wget';
    system 'timeout', 20, 'wget', '-q', '-T', 5, '-O', $file,
        "$url/100k.bin";
    is slurp($file), slurp($h->root . '/htdocs/100k.bin'), 'wget';
}

# Through a proxy that keeps its connections: n requests by curl.
sub through {
    my ($name, $port) = @_;
    my $want = slurp($h->root . '/htdocs/100k.bin');
    my $before = hits();
    my $bad = 0;
    for my $i (1 .. 60) {
        my $path = $i % 2 ? '/1k.txt' : '/100k.bin';
        my $r = $h->get($path, port => $port);
        $bad++ unless $r->{status} == 200
            && $r->{body} eq ($i % 2 ? 'x' x 1023 . "\n" : $want);
    }
    is $bad, 0, "$name in front: 60 right answers";
    cmp_ok hits() - $before, '>', 10, "$name in front: the loop takes part";
}

sub proxy {
    my ($name, $port, @command) = @_;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', $h->root . "/run/$name.out";
        open STDERR, '>&', \*STDOUT;
        exec @command or POSIX::_exit(127);
    }
    my $up = $h->wait_for(sub {
        IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
    });
    ok $up, "$name is up" or diag slurp($h->root . "/run/$name.out");
    through($name, $port) if $up;
    kill 'TERM', $pid;
    waitpid $pid, 0;
}

SKIP: {
    my $nginx = have('nginx') or skip 'nginx is not installed', 3;
    my $port = Test::Httpd::free_port();
    my $conf = $h->write_file('nginx.conf', <<"END");
daemon off; pid $h->{root}/run/nginx.pid; error_log $h->{root}/run/nginx.log;
events { }
http {
    access_log off;
    upstream back { server 127.0.0.1:@{[ $h->port ]}; keepalive 8; }
    server {
        listen 127.0.0.1:$port;
        location / {
            proxy_pass http://back; proxy_http_version 1.1;
            proxy_set_header Connection "";
        }
    }
}
END
    proxy('nginx', $port, $nginx, '-c', $conf, '-p', $h->root);
}

SKIP: {
    my $haproxy = have('haproxy') or skip 'haproxy is not installed', 3;
    my $port = Test::Httpd::free_port();
    my $conf = $h->write_file('haproxy.cfg', <<"END");
defaults
    mode http
    timeout connect 5s
    timeout client 10s
    timeout server 10s
    http-reuse always
frontend f
    bind 127.0.0.1:$port
    default_backend b
backend b
    server s 127.0.0.1:@{[ $h->port ]}
END
    proxy('haproxy', $port, $haproxy, '-db', '-f', $conf);
}

$h->finish;
done_testing;
