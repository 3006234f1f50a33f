# SPDX-License-Identifier: Apache-2.0
package Test::TLSSite;

# Servers with TLS: stock httpd and the fixed mode with the same virtual
# hosts, one per name, and what is asked of both.
#
#   my $t = Test::TLSSite::twin(hosts => [ 'a.test' => '', 'b.test' => '...' ],
#       kind => 'rsa', server => "SSLProtocol -all +TLSv1.2\n");
#   $t->start;
#   Test::TLSSite::learns($t, 'what', $request);    # by the loop
#   Test::TLSSite::never($t, 'what', $request);     # never by the loop

use strict;
use warnings;
use Test::Certificates;
use Test::Httpd;
use Test::More;
use Test::TLS;
use Test::Twin;

# Why a test of TLS cannot run here; or ''.
sub lacks {
    return 'this httpd has no mod_ssl'
        unless -e Test::Httpd::libexec() . '/mod_ssl.so';
    return $Test::TLS::missing;
}

# Why the loop is not expected to answer TLS; or ''.
sub lacks_loop {
    my $module = Test::Httpd::slurp(Test::Httpd::build_dir()
            . '/mod_cpuaffinity.so');
    return $module =~ /FixedTLS/ ? '' : 'the module has no FixedTLS';
}

sub host {
    my ($name, $kind, $more) = @_;
    my $path = Test::Certificates::directory() . '/'
        . ($name =~ /^[ab]\.test$/ ? $name : 'a.test') . "-$kind";
    return <<"END";
<VirtualHost *:\@TLS\@>
ServerName $name
SSLEngine on
SSLCertificateFile $path.crt
SSLCertificateKeyFile $path.key
$more</VirtualHost>
END
}

# The text of it: hosts, kind, server, conf.
sub conf {
    my (%o) = @_;
    my @hosts = @{ $o{hosts} || [ 'a.test' => '' ] };
    my $text = "ThreadsPerChild 16\nMaxRequestWorkers 64\n"
        . "SSLSessionCache shmcb:run/sessions(512000)\n"
        . (lacks_loop() ? '' : "FixedTLS on\n")
        . ($o{server} // '') . ($o{conf} // '');
    while (my ($name, $more) = splice @hosts, 0, 2) {
        $text .= host($name, $o{kind} // 'ec', $more);
    }
    return $text;
}

sub twin {
    my (%o) = @_;
    return Test::Twin->new(conf => conf(%o), tls => { sni => 'a.test' },
        modules => [ qw(ssl socache_shmcb), @{ $o{modules} || [] } ]);
}

# One test: two texts are the same; if not, where they begin to differ.
sub same_text {
    my ($name, $stock, $fixed) = @_;
    return pass($name) if $stock eq $fixed;
    my $n = 0;
    $n++ while $n < length $stock && $n < length $fixed
        && substr($stock, $n, 1) eq substr($fixed, $n, 1);
    my $from = $n > 200 ? $n - 200 : 0;
    my @parts = map { substr($_, $from, 600) =~ s/[^\n -~]/./gr }
        $stock, $fixed;
    fail($name);
    diag sprintf "lengths %d and %d, first difference at %d\n-- stock:\n%s"
        . "\n-- fixed:\n%s", length $stock, length $fixed, $n, @parts;
    return 0;
}

# What a connection says, to its end, dates aside, and how that comes.
sub said {
    my ($c, $wait) = @_;
    $c->end($wait // 10);
    return join "\n", $c->{in} =~ s/^(Date: ).*\r$/$1-\r/mgr,
        'fate ' . ($c->{fate} // 'open'),
        'close_notify ' . ($c->{notified} // 0), 'alert ' . ($c->{alert} // '');
}

# One test: both servers say the same to what the sub does with a connection.
# @return what they said
sub alike {
    my ($t, $name, $tls, $sub) = @_;
    my @said = map {
        my $c = Test::TLS->new($_->tls_port, sni => 'a.test', %$tls);
        $sub->($c);
        my $port = $_->tls_port;
        said($c) =~ s/\b$port\b/TLS/gr;
    } $t->both;
    same_text($name, @said);
    return $said[0];
}

# One test: the loop gives the answer in the end, and it is stock's.
sub learns {
    my ($t, $name, $request, %o) = @_;
    $t->settle if $t->{touched};
  SKIP: {
        skip lacks_loop(), 1 if lacks_loop();
        ok $t->learned($request, %o), "$name: the loop answers";
    }
    $t->same("$name: as stock's", [ ($request) x 4 ], %o);
}

# Two tests: the loop does not give it however often it is asked for, and it is
# stock's.
sub never {
    my ($t, $name, $request, %o) = @_;
    my $before = $t->hits;
    $t->learn($request, %o);
    $t->same("$name: as stock's", [ ($request) x 4 ], %o);
    is $t->hits, $before, "$name: never by the loop";
}

# One test: both have written the same lines to a log, of those that match.
# The loop's come from a thread of its own: in order among themselves only.
sub same_lines {
    my ($t, $name, $log, $re) = @_;
    my ($stock, $fixed);
    $t->fixed->wait_for(sub {
        ($stock, $fixed) = map _lines($_, $log, $re), $t->both;
        return $stock eq $fixed;
    }, 10);
    isnt $stock, '', "$name: there are some";
    return is $fixed, $stock, $name;
}

sub _lines {
    my ($h, $log, $re) = @_;
    my $text = Test::Httpd::slurp($h->root . "/logs/$log");
    my ($port, $sealed) = ($h->port, $h->tls_port);
    s/\b$port\b/PORT/g, s/\b$sealed\b/TLS/g for $text;
    return join '', sort grep /$re/, split /(?<=\n)/, $text;
}

1;
