# SPDX-License-Identifier: Apache-2.0
package Test::TLS;

# A TLS connection whose records and segments the test decides: a Test::Client
# that speaks TLS. The ciphertext passes through here, so it can be cut, held
# back, joined or spoilt on its way.
#
#   my $c = Test::TLS->new($port, sni => 'a.test', version => '1.3');
#   $c->send($text, record => 1, segment => 1);  # one byte each
#   my $r = $c->answer;                  # as of Test::Client
#   my $sealed = $c->seal($text);        # ciphertext, not sent yet
#   $c->raw(substr $sealed, 0, 5);       # half of it
#   $c->notify;                          # close_notify
#   $c->end;                             # 'end', 'reset' or ''; then
#   $c->{notified}, $c->{alert};         # close_notify came; an error's text
#
# Options: version ('1.2', '1.3': only that), sni, alpn [names], session (of
# another's session()), cert (a name of Test::Certificates), pha (offers a
# certificate later), ciphers, raw (no handshake yet), those of Test::Client.

use strict;
use warnings;
use Test::Certificates;
use Test::Client;
use Test::Httpd ();
use Time::HiRes qw(sleep time);
use parent -norequire, 'Test::Client';

our $missing = eval { require Net::SSLeay; 1 } ? ''
    : 'libnet-ssleay-perl is not installed';
my %versions = ('1.2' => 0x303, '1.3' => 0x304);
my ($want_read, $zero_return) = (2, 6);

if (!$missing) {
    Net::SSLeay::load_error_strings();
    Net::SSLeay::SSLeay_add_ssl_algorithms();
    Net::SSLeay::randomize();
}

sub _context {
    my (%o) = @_;
    my $ctx = Net::SSLeay::CTX_new();
    if (my $v = $versions{ $o{version} // '' }) {
        Net::SSLeay::CTX_set_min_proto_version($ctx, $v);
        Net::SSLeay::CTX_set_max_proto_version($ctx, $v);
    }
    Net::SSLeay::CTX_set_cipher_list($ctx, $o{ciphers}) if $o{ciphers};
    Net::SSLeay::CTX_set_alpn_protos($ctx, $o{alpn}) if $o{alpn};
    Net::SSLeay::CTX_set_post_handshake_auth($ctx, 1) if $o{pha};
    if ($o{cert}) {
        my $path = Test::Certificates::directory() . "/$o{cert}";
        Net::SSLeay::CTX_use_certificate_chain_file($ctx, "$path.crt");
        Net::SSLeay::CTX_use_PrivateKey_file($ctx, "$path.key",
            Net::SSLeay::FILETYPE_PEM());
    }
    return $ctx;
}

sub new {
    my ($class, $port, %o) = @_;
    my $self = Test::Client::new($class, $port, %o);
    my $ctx = $self->{ctx} = _context(%o);
    my $ssl = $self->{ssl} = Net::SSLeay::new($ctx);
    $self->{$_} = Net::SSLeay::BIO_new(Net::SSLeay::BIO_s_mem())
        for qw(rbio wbio);
    Net::SSLeay::set_bio($ssl, $self->{rbio}, $self->{wbio});
    Net::SSLeay::set_tlsext_host_name($ssl, $o{sni}) if defined $o{sni};
    Net::SSLeay::set_session($ssl, $o{session}) if $o{session};
    Net::SSLeay::set_connect_state($ssl);
    # every KeyUpdate that comes is counted
    my $updates = \($self->{updates} = 0);
    Net::SSLeay::set_msg_callback($ssl, sub {
        my ($written, undef, $type, $bytes) = @_;
        $$updates++ if !$written && $type == 22
            && length $bytes && ord $bytes == 24;
    });
    $self->handshake unless $o{raw};
    return $self;
}

# Finishes the handshake, also one that was begun by renegotiate(). @return
# true when it is done; false: {fate} and {alert} tell why not
sub handshake {
    my ($self) = @_;
    my $end = time + $Test::Client::limit * Test::Httpd::slow();
    while (time < $end) {
        Net::SSLeay::ERR_clear_error();
        my $rv = Net::SSLeay::do_handshake($self->{ssl});
        $self->raw($self->_written);
        return $self->{established} = 1 if $rv == 1;
        return 0 if $self->{fate} || !$self->_retry($rv);
        $self->_receive($end - time);
    }
    return 0;
}

# Is a result of the SSL's no more than a want of bytes? Notes what else it is.
sub _retry {
    my ($self, $rv) = @_;
    my $why = Net::SSLeay::get_error($self->{ssl}, $rv);
    return 1 if $why == $want_read;
    if ($why == $zero_return) {
        $self->{notified} = 1;
    }
    else {
        my $text = Net::SSLeay::ERR_error_string(
            Net::SSLeay::ERR_get_error());
        $self->{alert} //= $text =~ s/.*://r;
    }
    return 0;
}

# Ciphertext that the SSL has made and nobody has sent.
sub _written {
    my ($self) = @_;
    my $bytes = '';
    while (Net::SSLeay::BIO_pending($self->{wbio})) {
        $bytes .= Net::SSLeay::BIO_read($self->{wbio}, 65536);
    }
    return $bytes;
}

# Some ciphertext from the socket to the SSL. @return how many bytes
sub _receive {
    my ($self, $wait) = @_;
    my $sealed = { s => $self->{s}, in => '' };
    my $n = Test::Client::more($sealed, $wait < 0 ? 0 : $wait);
    $self->{fate} = $sealed->{fate} if $sealed->{fate};
    $self->{received} += $n;
    Net::SSLeay::BIO_write($self->{rbio}, $sealed->{in}) if $n;
    return $n;
}

# Decrypts what is there. @return how many bytes of text
sub _decrypt {
    my ($self) = @_;
    my $n = 0;
    return 0 if $self->{notified} || $self->{alert};
    while (1) {
        Net::SSLeay::ERR_clear_error();
        my ($text, $rv) = Net::SSLeay::read($self->{ssl}, 65536);
        if (($rv // -1) > 0) {
            $self->{in} .= $text;
            $n += length $text;
            next;
        }
        $self->_retry($rv // -1);
        last;
    }
    # what a KeyUpdate, a renegotiation or a request for a certificate wants
    my $own = $self->_written;
    $self->raw($own) if length $own;
    return $n;
}

# As of Test::Client, in bytes of text.
sub more {
    my ($self, $wait) = @_;
    my $end = time + ($wait // $Test::Client::limit * Test::Httpd::slow());
    while (1) {
        my $n = $self->_decrypt;
        return $n if $n;
        return 0 if $self->{fate};
        my $left = $end - time;
        return 0 if $left <= 0;
        $self->_receive($left);
    }
}

# The ciphertext of a text, in records of so many bytes (16384).
sub seal {
    my ($self, $text, $record) = @_;
    my $bytes = '';
    while (length $text) {
        my $piece = substr $text, 0, $record // 16384, '';
        Net::SSLeay::ERR_clear_error();
        my $rv = Net::SSLeay::write($self->{ssl}, $piece);
        last if $rv <= 0;
        $bytes .= $self->_written;
    }
    return $bytes;
}

# Sends ciphertext, or anything else, as it is: at once, or in segments of so
# many bytes, with a pause between two. @return true when all is sent
sub raw {
    my ($self, $bytes, %o) = @_;
    my $size = $o{segment} || length $bytes;
    while (length $bytes) {
        $self->SUPER::send(substr $bytes, 0, $size, '') or return 0;
        sleep $o{pause} if $o{pause} && length $bytes;
    }
    return 1;
}

sub send {
    my ($self, $text, %o) = @_;
    return $self->raw($self->seal($text, $o{record}), %o);
}

# close_notify, sent or only made. The socket remains open.
sub notify { my ($self) = @_; return $self->raw($self->seal_notify) }

sub seal_notify {
    my ($self) = @_;
    Net::SSLeay::shutdown($self->{ssl});
    return $self->_written;
}

# The socket ends with RST.
sub reset {
    my ($self) = @_;
    setsockopt $self->{s}, Socket::SOL_SOCKET(), Socket::SO_LINGER(),
        pack 'ii', 1, 0;
    CORE::close $self->{s};
}

my $ffi;

# The ciphertext of a KeyUpdate; the peer is asked for one, too. For TLS 1.3.
sub seal_key_update {
    my ($self, $request) = @_;
    if (!$ffi) {
        require FFI::Platypus;
        my ($lib) = Test::Httpd::slurp('/proc/self/maps')
            =~ m{(/\S*/libssl\.so\S*)} or die 'no libssl';
        $ffi = FFI::Platypus->new(api => 1, lib => $lib)
            ->function(SSL_key_update => [qw(opaque int)] => 'int');
    }
    $ffi->call($self->{ssl}, $request ? 1 : 0) == 1 or die 'no KeyUpdate';
    Net::SSLeay::do_handshake($self->{ssl});
    return $self->_written;
}

# The ciphertext by which a client asks for a renegotiation. For TLS 1.2.
sub seal_renegotiation {
    my ($self) = @_;
    Net::SSLeay::renegotiate($self->{ssl});
    Net::SSLeay::do_handshake($self->{ssl});
    return $self->_written;
}

sub session { Net::SSLeay::get1_session($_[0]{ssl}) }
sub resumed { Net::SSLeay::session_reused($_[0]{ssl}) }
sub alpn { Net::SSLeay::P_alpn_selected($_[0]{ssl}) // '' }
sub version { Net::SSLeay::get_version($_[0]{ssl}) }

# The name in the server's certificate.
sub peer {
    my ($self) = @_;
    my $x = Net::SSLeay::get_peer_certificate($self->{ssl}) or return '';
    my $name = Net::SSLeay::X509_NAME_oneline(
        Net::SSLeay::X509_get_subject_name($x));
    Net::SSLeay::X509_free($x);
    return $name =~ /CN=([^\/]*)/ ? $1 : $name;
}

sub DESTROY {
    my ($self) = @_;
    local ($@, $!, $?);
    return unless $self->{ssl};
    Net::SSLeay::set_msg_callback($self->{ssl}, undef);
    Net::SSLeay::free($self->{ssl});
    Net::SSLeay::CTX_free($self->{ctx});
}

1;
