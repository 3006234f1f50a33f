# SPDX-License-Identifier: Apache-2.0
# Client certificates: asked for by a virtual host or, on a connection that the
# loop has answered on, for a directory (TLS 1.2: a renegotiation, 1.3: after
# the handshake). Whoever may be somebody is never the loop's; programs see
# the certificate after the loop as before.
use strict;
use warnings;
use Test::More;
use Test::TLSSite;

plan skip_all => Test::TLSSite::lacks() if Test::TLSSite::lacks();

my $ca = Test::Certificates::directory() . '/client-ca.crt';
my $cgi = "ScriptAlias /cgi-bin/ \@ROOT\@/cgi-bin/\n"
    . "<Directory \@ROOT\@/cgi-bin>\nRequire all granted\n"
    . "SetEnv ap_trust_cgilike_cl yes\nSSLOptions"
    . " +StdEnvVars +ExportCertData\n</Directory>\n";
my $t = Test::TLSSite::twin(modules => [qw(cgid cgi headers)], hosts => [
    'a.test' => "SSLCACertificateFile $ca\n$cgi" . <<'END',
<Location /secret>
    SSLVerifyClient require
</Location>
<Location /maybe>
    SSLVerifyClient optional
</Location>
<Location /any>
    SSLVerifyClient optional_no_ca
</Location>
<Location /strong>
    SSLCipherSuite AES256
</Location>
END
    'require.test' => "SSLCACertificateFile $ca\nSSLVerifyClient require\n$cgi",
    'optional.test' => "SSLCACertificateFile $ca\nSSLVerifyClient optional\n",
    'any.test' => "SSLVerifyClient optional_no_ca\n",
    'user.test' => "SSLCACertificateFile $ca\nSSLVerifyClient optional\n"
        . "SSLUserName SSL_CLIENT_S_DN_CN\nSSLOptions +FakeBasicAuth\n",
]);
$t->file("$_/f.txt", "of $_") for qw(open secret maybe any strong);
# what differs from connection to connection aside
$_->write_file('cgi-bin/env', <<'END', 0755) for $t->both;
#!/bin/sh
all=$(env | grep -E '^(SSL_|HTTPS|REQUEST_SCHEME|SERVER_NAME)' |
    grep -v -E 'SESSION_ID|SERVER_CERT' | sort)
# without its length httpd makes chunks, as it comes
printf 'Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\n' \
    $((${#all} + 1)) "$all"
END
$t->start;

sub get {
    my ($host, $target, @fields) = @_;
    return $t->request($target, "Host: $host", @fields);
}
my $open = get('a.test', '/open/f.txt');
my $env = get('a.test', '/cgi-bin/env');

for my $version ('1.2', '1.3') {
    my $of = "TLS $version";
    for my $cert (undef, 'client', 'stranger') {
        my $who = $cert // 'nobody';
        for my $host (qw(require.test optional.test any.test user.test)) {
            my %o = (tls => { sni => $host, version => $version,
                cert => $cert });
            Test::TLSSite::never($t, "$of, $host, $who",
                get($host, '/open/f.txt'), %o);
        }
        # No certificate is asked for in the handshake.
        my @offers = $version eq '1.2' ? 0 : (0, 1);
        for my $pha (@offers) {
            my %o = (tls => { sni => 'a.test', version => $version,
                cert => $cert, pha => $pha });
            my $name = "$of, $who" . ($pha ? ', later' : '');
            Test::TLSSite::learns($t, "$name, open", $open, %o);
            for my $target (qw(/secret/f.txt /maybe/f.txt),
                $who eq 'client' ? qw(/any/f.txt /strong/f.txt) : ()) {
                my $closed = get('a.test', $target);
                Test::TLSSite::never($t, "$name, $target", $closed, %o);
                $t->same("$name, open, $target, open",
                    [ $open, $open, $closed, $open, $closed, $open ], %o);
                my $before = $t->hits;
                my @a = $t->ask($t->fixed, [ $closed, ($open) x 4 ], %o);
                if ($cert && $cert eq 'client' && $a[0] =~ / 200 /
                    && $target ne '/strong/f.txt') {
                    is $t->hits, $before,
                        "$name, never again after $target";
                }
                $t->same("$name, $target: what a program sees",
                    [ $open, $open, $env, $closed, $env, $open, $env ], %o);
            }
            my ($seen) = reverse $t->ask($t->fixed,
                [ $open, get('a.test', '/secret/f.txt'), $env ], %o);
            like $seen, qr/^SSL_CLIENT_S_DN_CN=client one$/m,
                "$name: the program sees who it is" if ($cert // '') eq 'client'
                && ($pha || $version eq '1.2');
        }
    }
    # A body that has come when the certificate is asked for.
    for my $cert (undef, 'client') {
        my $post = "POST /secret/f.txt HTTP/1.1\r\nHost: a.test\r\n"
            . "Content-Length: 3000\r\n\r\n" . 'b' x 3000;
        $t->same("$of: POST, then the handshake", [ $open, $open, $post, $open ],
            tls => { sni => 'a.test', version => $version, cert => $cert,
                pha => 1 });
    }
    # Resumed sessions.
    for my $host (qw(a.test require.test)) {
        my @answers = map {
            my $h = $_;
            my %o = (sni => $host, version => $version,
                $host eq 'a.test' ? () : (cert => 'client'));
            my $c = Test::TLS->new($h->tls_port, %o);
            my @got = map { $c->send(get($host, '/open/f.txt')); $c->answer }
                1 .. 3;
            my $d = Test::TLS->new($h->tls_port, %o, session => $c->session);
            push @got, map { $d->send(get($host, '/open/f.txt')); $d->answer }
                1 .. 3;
            join "\n", ($d->resumed ? 'resumed' : 'not resumed'),
                map { $_ ? "$_->{status} $_->{body}" : 'none' } @got;
        } $t->both;
        is $answers[1], $answers[0], "$of, $host: a resumed session";
        like $answers[1], qr/^resumed/, "$of, $host: it is one";
    }
}
$t->finish;
done_testing;
