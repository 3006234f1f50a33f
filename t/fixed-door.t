# SPDX-License-Identifier: Apache-2.0
# Connections that the loop hands to httpd's threads are ordinary ones: the
# right client, IPv4 and IPv6, TLS, HTTP/2, CGI, a proxy with a unix: backend
# in the same server; clients that vanish disturb nobody.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use Socket qw(:all);
use Test::More;
use Test::Httpd;

my ($port, $tls, $v6, $any) = map { Test::Httpd::free_port() } 1 .. 4;
my $httpd = Test::Httpd->new(
    modules => [qw(cgi ssl socache_shmcb http2 proxy proxy_http logio
        reqtimeout)],
    listen => "Listen 127.0.0.1:$port\nListen 127.0.0.1:$tls https\n"
        . "Listen [::1]:$v6\nListen $any\n",
    conf => <<"END",
FixedProcesses 2
LogFormat "%U %a %{remote}p %A %{local}p %I" who
CustomLog logs/who who
Protocols h2 h2c http/1.1
ScriptAlias /cgi/ \@ROOT\@/cgi-bin/
<Directory \@ROOT\@/cgi-bin>
    Require all granted
</Directory>
<Location /private>
    Require ip 127.0.0.2
</Location>
ProxyPass /back/ unix:\@ROOT\@/run/back.sock|http://localhost/
SSLSessionCache none
<VirtualHost 127.0.0.1:$tls>
    SSLEngine on
    SSLCertificateFile \@ROOT\@/cert.pem
    SSLCertificateKeyFile \@ROOT\@/key.pem
</VirtualHost>
END
    mpm_conf => "ThreadsPerChild 8\n");
$httpd->{port} = $port;
my $root = $httpd->root;
system "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
    . "-keyout $root/key.pem -out $root/cert.pem 2>/dev/null";
mkdir "$root/htdocs/private";
$httpd->write_file('htdocs/private/a.txt', "private\n");
$httpd->write_file("htdocs/$_.txt", "file $_\n" x (1 + $_ % 7)) for 0 .. 29;
$httpd->write_file('cgi-bin/fds', <<'END', 0755);
#!/bin/sh
echo Content-Type: text/plain
echo
ls -l /proc/$$/fd | grep -cE 'socket|eventfd|cpuaffinity'
cat >&2 </dev/null
END

# A backend on a unix socket that answers with the path it was asked for.
my $listen = IO::Socket::UNIX->new(Local => "$root/run/back.sock",
    Listen => 64) or die "back.sock: $!";
chmod 0777, "$root/run/back.sock";
chmod 0755, "$root/run";
my $backend = fork // die;
if (!$backend) {
    $SIG{ALRM} = sub { POSIX::_exit(0) };
    alarm 90;
    while (my $s = $listen->accept) {
        my $text = '';
        1 while $text !~ /\r\n\r\n/ && sysread $s, $text, 4096, length $text;
        my ($path) = $text =~ /^GET (\S+)/;
        my $body = "backend $path\n";
        print {$s} "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: "
            . length($body) . "\r\n\r\n$body";
        close $s;
    }
    POSIX::_exit(0);
}
close $listen;

$httpd->start;

sub line_of {
    my ($path) = @_;
    return $httpd->wait_for(sub {
        my ($l) = Test::Httpd::slurp("$root/logs/who") =~ /^\Q$path\E (.*)/m;
        $l;
    }, 5) // '';
}

# One request on a socket of our own, from a given address.
sub ask {
    my ($s, $path) = @_;
    print {$s} "GET $path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    local $/;
    my $text = readline $s;
    return $text // '';
}

subtest 'the client is who it is' => sub {
    my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port",
        LocalAddr => '127.0.0.2', Timeout => 5);
    my $mine = $s->sockport;
    like ask($s, '/1.txt'), qr/^HTTP\/1.1 200.*file 1\n/s, 'IPv4';
    like line_of('/1.txt'), qr/^127\.0\.0\.2 $mine 127\.0\.0\.1 $port /,
        'address and port on both sides';
    like line_of('/1.txt'), qr/ (?!0\b)\d+$/, 'mod_logio counts its bytes';

    $s = IO::Socket::INET->new(PeerAddr => "127.0.0.3:$any",
        LocalAddr => '127.0.0.2', Timeout => 5);
    $mine = $s->sockport;
    like ask($s, '/2.txt'), qr/^HTTP\/1.1 200/, 'a wildcard listener';
    like line_of('/2.txt'), qr/^127\.0\.0\.2 $mine 127\.0\.0\.3 $any /,
        'its address is the one that was connected to';

SKIP: {
        socket my $six, AF_INET6, SOCK_STREAM, 0 or skip 'no IPv6', 2;
        connect $six, pack_sockaddr_in6($v6, inet_pton(AF_INET6, '::1'))
            or skip 'no IPv6 on loopback', 2;
        ($mine) = unpack_sockaddr_in6(getsockname $six);
        $six->autoflush(1);
        like ask($six, '/3.txt'), qr/^HTTP\/1.1 200/, 'IPv6';
        like line_of('/3.txt'), qr/^::1 $mine ::1 $v6 /,
            'address and port on both sides';
    }
    $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port",
        LocalAddr => '127.0.0.2');
    like ask($s, '/private/a.txt'), qr/^HTTP\/1.1 200/, 'Require ip lets in';
    is $httpd->get('/private/a.txt')->{status}, 403, 'and keeps out';
};

subtest 'TLS and HTTP/2' => sub {
    for my $v ('--http1.1', '--http2') {
        my $r = $httpd->get('/4.txt', port => $tls, https => 1, args => [$v]);
        is $r->{status}, 200, "https $v";
        is $r->{body}, "file 4\n" x 5, 'body';
    }
    my $r = $httpd->get('/4.txt', args => ['--http2-prior-knowledge']);
    is $r->{body}, "file 4\n" x 5, 'HTTP/2 without TLS, the 24-byte preface';
    $r = $httpd->get('/4.txt', args => ['--http2']);
    is $r->{body}, "file 4\n" x 5, 'HTTP/2 by upgrade';
SKIP: {
        skip 'h2load is not installed', 1 if system 'which h2load >/dev/null';
        my $out = `timeout 20 h2load -n 2000 -c 8 -m 8 https://127.0.0.1:$tls/1k.txt 2>&1`;
        like $out, qr/2000 succeeded, 0 failed, 0 errored/, 'h2load';
    }
};

subtest 'CGI' => sub {
    my $r = $httpd->get('/cgi/fds');
    is $r->{status}, 200, 'a script runs';
    # mod_cgi's pipes are no sockets: whatever is counted was inherited
    is $r->{body}, "0\n", 'without listening sockets, doors or channels';
};

subtest 'a proxy, in the same server' => sub {
    my @bad;
    for my $round (1 .. 10) {
        my %open;
        for my $i (1 .. 6) {
            for my $path ("/back/$round-$i", "/$i.txt") {
                my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port",
                    Timeout => 5) or next;
                print {$s} "GET $path HTTP/1.1\r\nHost: a\r\n"
                    . "Connection: close\r\n\r\n";
                $open{$path} = $s;
            }
        }
        for my $path (sort keys %open) {
            my $s = $open{$path};
            local $/;
            my $text = IO::Select->new($s)->can_read(10) ? readline $s : '';
            my $want = $path =~ m{/back/(\S+)} ? "backend /$1\n" : 'file ';
            push @bad, "$path: " . substr $text, 0, 60
                unless $text =~ /^HTTP\/1.1 200.*\r\n\r\n\Q$want\E/s;
        }
    }
    is "@bad", '', '120 requests, each got its own answer';
};

subtest 'clients that vanish' => sub {
    my (@bad, $n);
    for my $i (0 .. 299) {
        my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port",
            Timeout => 5) or next;
        if ($i % 3) {
            # a reset, before or after a request was sent
            print {$s} "GET /29.txt HTTP/1.1\r\nHost: a\r\n\r\n" if $i % 2;
            setsockopt $s, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
            close $s;
            next;
        }
        my $name = $i % 29;
        my $text = ask($s, "/$name.txt");
        push @bad, "$i: " . substr $text, 0, 60
            unless $text =~ /^HTTP\/1.1 200.*\r\n\r\n(file $name\n)+$/s;
        $n++;
    }
    is "@bad", '', "$n clients between them got their own answers";
};

kill 'TERM', $backend;
waitpid $backend, 0;
$httpd->finish;
done_testing;
