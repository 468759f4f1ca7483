import com.google.gson.Gson;
import java.net.http.HttpHeaders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

final class Runner {
  static final class Case {
    String scheme, body, secret;
    Map<String, String> headers;
  }

  public static void main(String[] arguments) throws Exception {
    Case[] cases = new Gson().fromJson(Files.readString(Path.of(arguments[0])), Case[].class);
    System.out.println(Arrays.stream(cases).map(Runner::answer).collect(Collectors.toList()));
  }

  private static boolean answer(Case signed) {
    Map<String, List<String>> lists =
        signed.headers.entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, header -> List.of(header.getValue())));
    HttpHeaders headers = HttpHeaders.of(lists, (name, value) -> true);
    try {
      if (signed.scheme.equals("standard")) {
        Receiver.verify(signed.body, headers, signed.secret);
      } else {
        StripeReceiver.verify(signed.body, headers, signed.secret);
      }
      return true;
    } catch (Exception refused) {
      return false;
    }
  }
}
