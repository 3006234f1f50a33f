# SPDX-License-Identifier: Apache-2.0
# Virtual hosts by SNI and by Host, and what httpd says where the two differ:
# on a connection that the loop has answered on, too. As stock httpd.
use strict;
use warnings;
use Test::More;
use Test::TLSSite;

plan skip_all => Test::TLSSite::lacks() if Test::TLSSite::lacks();

sub server {
    my (%o) = @_;
    my $t = Test::TLSSite::twin(modules => ['headers'],
        hosts => [
            'a.test' => "ServerAlias *.a.test alias.test\nHeader set X-Host a\n",
            'b.test' => "Header set X-Host b\nDocumentRoot \@ROOT\@/htdocs/b\n"
                . ($o{of_b} // ''),
        ], server => $o{server} // '');
    $t->file('f.txt', 'of a');
    $t->file('b/f.txt', 'of b');
    return $t;
}

sub get { my ($t, $host, $target) = @_;
    return $t->request($target // '/f.txt', $host) }

# The same request, over and over, in the middle of what the loop knows.
sub mixed {
    my ($t, $name, $known, $other, %o) = @_;
    $t->learn($other, %o) for 1 .. 2;
    $t->same("$name, first of a connection", [ $other, $known ], %o);
    $t->same("$name, later", [ $known, $known, $other, $known ], %o);
    $t->same("$name, twice", [ $known, $known, $other, $other, $known ], %o);
}

sub is_there {
    my ($directive) = ($_[0]{server} // '') =~ /(SSLVHostSNIPolicy)/
        or return 1;
    return Test::Httpd::slurp(Test::Httpd::libexec() . '/mod_ssl.so')
        =~ /$directive/;
}

my @servers = (
    [ 'as it is', {} ],
    [ 'strict', { server => "SSLStrictSNIVHostCheck on\n" } ],
    [ 'another certificate authority', { of_b => 'SSLCACertificateFile '
                . Test::Certificates::directory() . "/client-ca.crt\n"
                . "SSLVerifyClient optional\n" } ],
    [ 'other ciphers', { of_b => "SSLCipherSuite ECDHE+AESGCM\n" } ],
    [ 'any name', { server => "SSLVHostSNIPolicy insecure\n" } ],
    [ 'authonly', { server => "SSLVHostSNIPolicy authonly\n" } ],
);
# all files are there before the first server waits for their age
$_->[2] = server(%{ $_->[1] }) for grep { is_there($_->[1]) } @servers;
for (@servers) {
    my ($kind, undef, $t) = @$_;
  SKIP: {
        $t or skip 'mod_ssl has no SSLVHostSNIPolicy', 1;
        $t->start;
        my ($a, $b) = map get($t, "Host: $_.test"), qw(a b);
        for my $version ('1.2', '1.3') {
            my $of = "$kind, TLS $version";
            my %a = (tls => { sni => 'a.test', version => $version });
            my %b = (tls => { sni => 'b.test', version => $version });
            my %none = (tls => { version => $version });
            my %other = (tls => { version => $version, sni => 'c.test' });
            my %upper = (tls => { version => $version, sni => 'A.TEST' });
            my %alias = (tls => { version => $version, sni => 'x.a.test' });
            Test::TLSSite::learns($t, "$of: a", $a, %a);
            $kind =~ /authority/
                ? Test::TLSSite::never($t, "$of: b", $b, %b)
                : Test::TLSSite::learns($t, "$of: b", $b, %b);
            mixed($t, "$of: SNI a, Host b", $a, $b, %a);
            mixed($t, "$of: SNI b, Host a", $b, $a, %b);
            $t->same("$of: no SNI, a", [ ($a) x 6 ], %none);
            $t->same("$of: no SNI, b", [ ($b) x 6 ], %none);
            $t->same("$of: no SNI, both", [ $a, $a, $b, $a, $b ], %none);
            $t->same("$of: unknown SNI", [ $a, $a, $b, $a ], %other);
            $t->same("$of: SNI in capitals", [ ($a) x 4, $b, $a ], %upper);
            $t->same("$of: SNI of an alias", [ ($a) x 4, $b, $a ], %alias);
            next if $kind ne 'as it is';
            for my $host ('Host: A.Test', 'Host: a.test:@', 'Host: a.test.',
                'Host: alias.test', 'Host: x.a.test', 'Host: c.test',
                'Host: localhost', 'Host: a.test:1', 'Host: b.test:@',
                'Host: 127.0.0.1', 'Host:', 'Host: B.TEST', 'Host: a.test:443') {
                (my $name = $host) =~ s/\@/PORT/;
                # each server's port is its own
                mixed_port($t, "$of: $name", $a, $host, %a);
            }
            my $absolute = get($t, 'Host: a.test', 'https://b.test/f.txt');
            mixed($t, "$of: a name in the target", $a, $absolute, %a);
            mixed($t, "$of: two Hosts", $a,
                $t->request('/f.txt', 'Host: a.test', 'Host: b.test'), %a);
            mixed($t, "$of: no Host", $a, "GET /f.txt HTTP/1.1\r\n\r\n", %a);
            mixed($t, "$of: HTTP/1.0 without Host", $a, "GET /f.txt HTTP/1.0"
                . "\r\nConnection: keep-alive\r\n\r\n", %a);
        }
        $t->finish;
    }
}

# As mixed(), where the Host has each server's own port.
sub mixed_port {
    my ($t, $name, $known, $host, %o) = @_;
    my @answers = map {
        my $h = $_;
        (my $own = $host) =~ s/\@/$h->tls_port/e;
        my $other = get($t, $own);
        $t->ask($h, [ $other, $other ], %o) for 1 .. 4;
        join "\n--\n", $t->ask($h, [ $known, $known, $other, $other, $known ],
            %o), $t->ask($h, [ $other, $known, $other ], %o);
    } $t->both;
    is $answers[1], $answers[0], $name;
}

done_testing;
