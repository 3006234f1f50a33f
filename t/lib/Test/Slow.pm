# SPDX-License-Identifier: Apache-2.0
package Test::Slow;

# A server with few workers, and requests that keep them busy until told to
# end.
#
#   use Test::Slow qw(request served_by release answers);
#   my $httpd = Test::Slow::server(threads => 3);
#   my $s = request($httpd, '/cgi/slow');
#   my $pid = served_by($s);     # the process that serves it
#   release($httpd);             # all slow ones end
#   my @texts = answers(10, $s);

use strict;
use warnings;
use Exporter qw(import);
use IO::Select;
use IO::Socket::INET;
use Test::Httpd;
use Time::HiRes qw(time);

our @EXPORT_OK = qw(request served_by release answers ended all_ok);

# Writes the program; $conf is what makes an httpd serve it at /cgi/slow.
sub script {
    my ($httpd) = @_;
    $httpd->write_file('cgi-bin/slow', <<'END', 0755);
#!/bin/sh
echo Content-Type: text/plain
echo
echo served by $PPID
while [ ! -e "$DOCUMENT_ROOT/go" ]; do sleep 0.1; done
echo end
END
    return;
}

our $conf = <<'END';
ScriptAlias /cgi/ @ROOT@/cgi-bin/
<Directory @ROOT@/cgi-bin>
    Require all granted
</Directory>
END

# Two started processes, with the status at /status; options: threads (of
# each), cgi (the module), conf.
sub server {
    my (%o) = @_;
    my $httpd = Test::Httpd->new(
        modules => [ $o{cgi} // 'cgi' ],
        conf => "FixedProcesses 2\nFixedSteering off\n$conf"
            . "<Location /status>\nSetHandler cpuaffinity-status\n"
            . "</Location>\n" . ($o{conf} // ''),
        mpm_conf => "ThreadsPerChild $o{threads}\n");
    script($httpd);
    return $httpd->start;
}

sub request {
    my ($httpd, $path) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $httpd->port, Timeout => 5) or return;
    print {$s} "GET $path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    return $s;
}

# The process that serves a slow request, as soon as it says so; 0: none.
sub served_by {
    my ($s) = @_;
    my $text = '';
    until ($text =~ /served by \d+/) {
        IO::Select->new($s)->can_read(10) or return 0;
        sysread($s, $text, 4096, length $text) or return 0;
    }
    return $text =~ /served by (\d+)/ ? $1 : 0;
}

sub release { $_[0]->write_file('htdocs/go', '') }

# The answers to all within the seconds: '' for those that were closed,
# undef for those that had none.
sub answers {
    my ($seconds, @sockets) = @_;
    my %open = map { (fileno $_ => $_) } @sockets;
    my %text = map { (fileno $_ => undef) } @sockets;
    my $end = time + $seconds;
    while (%open && time < $end) {
        for my $s (IO::Select->new(values %open)->can_read(0.1)) {
            my $n = fileno $s;
            $text{$n} //= '';
            sysread($s, $text{$n}, 65536, length $text{$n}) and next;
            delete $open{$n};
        }
    }
    $text{$_} = undef for keys %open;
    return map { $text{ fileno $_ } } @sockets;
}

# How many of the texts are a whole answer of a slow request, of any 200.
sub ended { return scalar grep { ($_ // '') =~ /end/ } @_ }
sub all_ok { return scalar grep { ($_ // '') =~ m{^HTTP/1.1 200} } @_ }

1;
